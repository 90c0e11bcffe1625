import { expect, test } from "bun:test";
import { bytesToText, hasEscapedBytes, textToBytes } from "../../src/policy/byte-text.ts";

const cases: { bytes: number[]; text: string; because: string }[] = [
  { bytes: [], text: "", because: "nothing is nothing" },
  { bytes: [0x6c, 0x73], text: "ls", because: "ASCII is itself" },
  { bytes: [0x00, 0x7f], text: "\0\x7f", because: "controls are kept" },
  { bytes: [0xc3, 0xa9], text: "é", because: "two bytes" },
  { bytes: [0xe2, 0x82, 0xac], text: "€", because: "three bytes" },
  { bytes: [0xf0, 0x9f, 0x98, 0x80], text: "😀", because: "four bytes" },
  { bytes: [0xef, 0xbb, 0xbf, 0x61], text: "\ufeffa", because: "a byte order mark is kept" },
  { bytes: [0x61, 0xff, 0x62], text: "a\udcffb", because: "a byte that is never valid" },
  { bytes: [0x80], text: "\udc80", because: "a continuation alone" },
  { bytes: [0xc3], text: "\udcc3", because: "a sequence cut short" },
  { bytes: [0xe2, 0x82], text: "\udce2\udc82", because: "a longer one cut short" },
  { bytes: [0xc0, 0xaf], text: "\udcc0\udcaf", because: "an overlong slash is no slash" },
  { bytes: [0xe0, 0x80, 0xaf], text: "\udce0\udc80\udcaf", because: "overlong in three" },
  { bytes: [0xed, 0x9f, 0xbf], text: "\ud7ff", because: "the last before the surrogates" },
  { bytes: [0xed, 0xa0, 0x80], text: "\udced\udca0\udc80", because: "an encoded surrogate" },
  { bytes: [0xed, 0xb2, 0x80], text: "\udced\udcb2\udc80", because: "an encoded escape" },
  { bytes: [0xf4, 0x8f, 0xbf, 0xbf], text: "\u{10ffff}", because: "the last character" },
  { bytes: [0xf4, 0x90, 0x80, 0x80], text: "\udcf4\udc90\udc80\udc80", because: "one behind" },
  { bytes: [0xf0, 0x9f, 0x98, 0x80, 0xff], text: "😀\udcff", because: "valid, then not" },
];

test.each(cases)("bytesToText() and back: $because", ({ bytes, text }) => {
  expect(bytesToText(Uint8Array.from(bytes))).toBe(text);
  expect([...textToBytes(text)]).toEqual(bytes);
});

test.each(cases)("hasEscapedBytes() tells invalid bytes: $because", ({ text }) => {
  expect(hasEscapedBytes(text)).toBe(/[\udc80-\udcff]/u.test(text));
});

test("every pair of bytes comes back as it was, short or long", () => {
  for (let first = 0; first < 256; first++) {
    for (let second = 0; second < 256; second += 5) {
      const short = Uint8Array.of(first, second, 0x41);
      expect(textToBytes(bytesToText(short))).toEqual(short);
    }
  }
  const long = Uint8Array.from({ length: 4096 }, (_, i) => (i * 7919) & 0xff);
  expect(textToBytes(bytesToText(long))).toEqual(long);
});
