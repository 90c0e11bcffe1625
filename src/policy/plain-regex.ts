/**
 * Recognises patterns that are surely valid and small, without compiling them. Compiling is what
 * a policy's start-up would mostly consist of (0.4 ms a pattern in a cold process), and most
 * patterns are never needed in a run: so a pattern that is plainly right is compiled at its first
 * use. Whatever is not recognised here is compiled at once, to find out.
 */
export function isPlainRegex(pattern: string): boolean {
  if (pattern.length > PLAIN_CHARACTERS_MAX) return false;
  let depth = 0;
  // Whether what stands before can be repeated.
  let atom = false;
  let at = pattern.startsWith("(?i)") ? 4 : 0;
  while (at < pattern.length) {
    const character = pattern[at] as string;
    if (LITERAL.test(character) || character === ".") {
      atom = true;
      at++;
    } else if (character === "(") {
      at += pattern.startsWith("(?:", at) ? 3 : 1;
      if (pattern[at] === "?") return false;
      depth++;
      atom = false;
    } else if (character === ")") {
      if (depth === 0) return false;
      depth--;
      atom = true;
      at++;
    } else if (character === "|" || character === "^" || character === "$") {
      atom = false;
      at++;
    } else if (character === "*" || character === "+" || character === "?") {
      if (!atom) return false;
      atom = false;
      at += pattern[at + 1] === "?" ? 2 : 1;
    } else {
      const end = tokenEnd(pattern, at);
      if (end < 0) return false;
      atom = true;
      at = end;
    }
  }
  return depth === 0;
}

/** Each character makes two instructions at most, so this keeps within the limit for programs. */
const PLAIN_CHARACTERS_MAX = 400;
const LITERAL = /[\w \-/,:;=~@%#!"'<>&`]/;
const ESCAPE = /\\[.*+?()[\]{}|^$\\/sSdDwW-]/y;
/** Ranges only of all letters of one case and of all digits, where their order can be seen. */
const CLASS_ESCAPE = /\\[.*+?()[\]{}|^$\\/sdw-]/.source;
const CLASS_CHARACTER = /[\w ./,:;=+*~@%#!"'<>&`?(){}|$](?!-[^\]])/.source;
const CLASS = new RegExp(`\\[\\^?-?(?:a-z|A-Z|0-9|${CLASS_ESCAPE}|${CLASS_CHARACTER})+-?\\]`, "y");

/** The end of the escape or character class that starts here, or -1. */
function tokenEnd(pattern: string, at: number): number {
  const token = pattern[at] === "\\" ? ESCAPE : CLASS;
  token.lastIndex = at;
  return token.test(pattern) ? token.lastIndex : -1;
}
