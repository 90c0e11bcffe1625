import { expect, test } from "bun:test";
import { escapeControl } from "../../src/policy/escape-control.ts";

test.each([
  { text: "rm -rf é😀 €", shown: "rm -rf é😀 €", because: "what is visible stays" },
  { text: "a\x1b[2Jb", shown: "a\\x1b[2Jb", because: "an escape sequence would clear the screen" },
  { text: "a\nb\rc\td\0", shown: "a\\x0ab\\x0dc\\x09d\\x00", because: "lines stay one line" },
  { text: "\x7f\x9b", shown: "\\x7f\\x9b", because: "DEL and C1 are controls too" },
  { text: "a\u202eb\u2066c\u200fd", shown: "a\\u202eb\\u2066c\\u200fd", because: "direction" },
  { text: "a\u2028b\u2029c", shown: "a\\u2028b\\u2029c", because: "these break lines somewhere" },
  { text: "a\udcffb", shown: "a\\xffb", because: "a byte that was not UTF-8 is shown as a byte" },
  { text: "\ud800x", shown: "\\ud800x", because: "half a pair is no character" },
  { text: "\u00a0\u200b", shown: "\u00a0\u200b", because: "odd spaces do no harm" },
])("escapeControl() gives $shown: $because", ({ text, shown }) => {
  expect(escapeControl(text)).toBe(shown);
});
