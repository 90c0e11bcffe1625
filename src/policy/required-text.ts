import { isPlainRegex } from "./plain-regex.ts";

/**
 * Text that every match of a pattern contains. Most patterns say plainly what they are about
 * (`^git push`, `(^| )--force( |$)`), and most commands lack it: to see that takes no engine, which
 * then need not be loaded, nor the pattern be compiled.
 */
export interface RequiredText {
  readonly text: string;
  /** It stands at the very start of what is searched. */
  readonly isPrefix: boolean;
}

/** Null if nothing can be told. */
export function requiredText(pattern: string): RequiredText | null {
  // Another case is other text.
  if (!isPlainRegex(pattern) || pattern.startsWith("(?i)")) return null;
  let best: RequiredText | null = null;
  let run = "";
  let runStart = 0;
  const endRun = (): void => {
    if (run.length > (best?.text.length ?? 0)) best = { text: run, isPrefix: runStart === 1 };
    run = "";
  };
  let depth = 0;
  for (let at = 0; at < pattern.length; ) {
    const character = pattern[at] as string;
    const length = tokenLength(pattern, at);
    const literal = depth === 0 ? literalOf(pattern.slice(at, at + length)) : null;
    if (character === "(") depth++;
    if (character === ")") depth--;
    // A choice at the top level may leave all else out.
    if (character === "|" && depth === 0) return null;
    at += length;
    if (literal === null || REPEAT.test(pattern[at] ?? "")) endRun();
    else {
      if (run === "") runStart = pattern.startsWith("^") ? at - length : 0;
      run += literal;
    }
  }
  endRun();
  return best;
}

export function hasRequired(text: string, required: RequiredText | null): boolean {
  if (required === null) return true;
  return required.isPrefix ? text.startsWith(required.text) : text.includes(required.text);
}

const REPEAT = /[*+?]/;
const CLASS = /\[\^?\]?(?:\\.|[^\]\\])*\]/y;
const LITERAL = /^[\w \-/,:;=~@%#!"'<>&`]$/;
const ESCAPED_LITERAL = /^\\[.*+?()[\]{}|^$\\/-]$/;

function tokenLength(pattern: string, at: number): number {
  if (pattern[at] === "\\") return 2;
  CLASS.lastIndex = at;
  return pattern[at] === "[" && CLASS.test(pattern) ? CLASS.lastIndex - at : 1;
}

function literalOf(token: string): string | null {
  if (LITERAL.test(token)) return token;
  return ESCAPED_LITERAL.test(token) ? token.slice(1) : null;
}
