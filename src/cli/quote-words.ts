const SAFE_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;

/**
 * The words as a line to paste into a shell. Words come from argv, so what a terminal would obey
 * is written as an escape inside `$'…'`.
 */
export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

function quoteWord(word: string): string {
  if (SAFE_WORD.test(word)) return word;
  if (!NEEDS_ESCAPE.test(word)) return `'${word.replaceAll("'", `'\\''`)}'`;
  const escaped = Array.from(word, (character) => escapeCharacter(character)).join("");
  return `$'${escaped}'`;
}

/** C0 and C1 controls, DEL, characters that turn the direction of text, bytes of no character. */
const NEEDS_ESCAPE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

function escapeCharacter(character: string): string {
  if (character === "'" || character === "\\") return `\\${character}`;
  if (!NEEDS_ESCAPE.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  // A byte that is no UTF-8 is held as U+DC00 plus the byte (see policy/byte-text.ts).
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`;
  return code <= 0x7f
    ? `\\x${code.toString(16).padStart(2, "0")}`
    : `\\U${code.toString(16).padStart(8, "0")}`;
}
