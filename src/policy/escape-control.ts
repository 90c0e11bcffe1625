/**
 * C0, DEL and C1 controls; the marks that change the reading direction; line and paragraph
 * separators; lone surrogates (the `u` flag makes the class match only those that stand alone).
 */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu;
const HAS_UNSAFE = new RegExp(UNSAFE.source, "u");

/**
 * Makes text that an agent chose safe to print: what would move the cursor, colour the screen or
 * turn a line around is shown as `\x1b` or `\u202e`. A byte that was not UTF-8 is shown as itself.
 */
export function escapeControl(text: string): string {
  if (!HAS_UNSAFE.test(text)) return text;
  return text.replace(UNSAFE, (character) => {
    const code = character.charCodeAt(0);
    if (code >= 0xdc80 && code <= 0xdcff) return hex("\\x", code - 0xdc00, 2);
    return code <= 0xff ? hex("\\x", code, 2) : hex("\\u", code, 4);
  });
}

function hex(prefix: string, code: number, digits: number): string {
  return prefix + code.toString(16).padStart(digits, "0");
}
