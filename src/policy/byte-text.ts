/**
 * Bytes as text without loss, for paths and arguments that are UTF-8 by custom only. Valid UTF-8
 * decodes as usual; a byte b that is not part of a valid sequence becomes the lone surrogate
 * 0xDC00 + b. No valid text decodes to a lone surrogate, so the way back is exact (this is what
 * Python calls surrogateescape).
 */

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

export function bytesToText(bytes: Uint8Array): string {
  // Short ASCII is nearly everything there is, and a decoder call costs more than this loop.
  if (bytes.length <= 64) {
    let text = "";
    let i = 0;
    for (; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      if (byte >= 0x80) break;
      text += String.fromCharCode(byte);
    }
    if (i === bytes.length) return text;
  }
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return decodeWithEscapes(bytes);
  }
}

export function textToBytes(text: string): Uint8Array {
  if (!hasEscapedBytes(text)) return encoder.encode(text);
  const bytes: number[] = [];
  let plainFrom = 0;
  for (let i = 0; i < text.length; i++) {
    if (!isEscapeAt(text, i)) continue;
    for (const byte of encoder.encode(text.slice(plainFrom, i))) bytes.push(byte);
    bytes.push(text.charCodeAt(i) & 0xff);
    plainFrom = i + 1;
  }
  for (const byte of encoder.encode(text.slice(plainFrom))) bytes.push(byte);
  return Uint8Array.from(bytes);
}

/** Whether some byte of the text was not valid UTF-8. */
export function hasEscapedBytes(text: string): boolean {
  return !text.isWellFormed();
}

function isEscapeAt(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  if (unit < 0xdc80 || unit > 0xdcff) return false;
  const before = index > 0 ? text.charCodeAt(index - 1) : 0;
  return before < 0xd800 || before > 0xdbff;
}

function decodeWithEscapes(bytes: Uint8Array): string {
  const parts: string[] = [];
  let plainFrom = 0;
  let i = 0;
  while (i < bytes.length) {
    const length = sequenceLength(bytes, i);
    if (length > 0) {
      i += length;
      continue;
    }
    if (i > plainFrom) parts.push(strictDecoder.decode(bytes.subarray(plainFrom, i)));
    parts.push(String.fromCharCode(0xdc00 + (bytes[i] as number)));
    i++;
    plainFrom = i;
  }
  if (i > plainFrom) parts.push(strictDecoder.decode(bytes.subarray(plainFrom, i)));
  return parts.join("");
}

/** The length of the valid sequence that starts here, or 0; the table of the Unicode standard. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  if (first < 0x80) return 1;
  const second = bytes[at + 1] ?? 0;
  if (first < 0xc2 || first > 0xf4) return 0;
  if (first < 0xe0) return isContinuation(second) ? 2 : 0;
  const third = bytes[at + 2] ?? 0;
  if (first < 0xf0) {
    // E0 below A0 is overlong; ED from A0 on is a surrogate.
    if (first === 0xe0 && second < 0xa0) return 0;
    if (first === 0xed && second > 0x9f) return 0;
    return isContinuation(second) && isContinuation(third) ? 3 : 0;
  }
  // F0 below 90 is overlong; F4 from 90 on is above U+10FFFF.
  if (first === 0xf0 && second < 0x90) return 0;
  if (first === 0xf4 && second > 0x8f) return 0;
  const fourth = bytes[at + 3] ?? 0;
  return isContinuation(second) && isContinuation(third) && isContinuation(fourth) ? 4 : 0;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** Nearly every path is ASCII, which is the same in both forms. */
const ASCII = /^[\x20-\x7e]*$/;

/** The same with one character a byte. */
export function byteString(text: string): string {
  if (ASCII.test(text)) return text;
  return Array.from(textToBytes(text), (byte) => String.fromCharCode(byte)).join("");
}
