/**
 * Regular expressions whose matching time grows with the length of the text and with nothing
 * else. JavaScript's own engine backtracks: one `(a+)+$` and a long argv would hold up every exec
 * of the agent. re2js is a port of RE2 and has no such pattern.
 */
import type { RE2JS } from "re2js";
import { isPlainRegex } from "./plain-regex.ts";
import { err, ok, type Result } from "./result.ts";

export interface LinearRegex {
  /** Whether the pattern occurs anywhere in the text. */
  test(text: string): boolean;
  /** Whether the pattern describes the whole text. */
  testWhole(text: string): boolean;
}

export interface RegexMistake {
  readonly message: string;
  readonly hint: string | null;
}

/**
 * Where the automaton of a pattern grows too large, re2js steps through the instructions one by
 * one for each character, so this factor bounds the worst case: some seconds for 2 MiB of argv
 * against a pattern made for it, milliseconds for any other.
 */
const INSTRUCTIONS_MAX = 1_000;
const PATTERN_CHARACTERS_MAX = 10_000;
/** re2js gives the automaton of each pattern 8 MiB, which is much with a thousand patterns. */
const AUTOMATON_BYTES_MAX = 1 << 20;
const AUTOMATON_BYTES_GIVEN = 8 << 20;

/** Loaded at first use: it is large, and many runs never meet a pattern. */
const engine = (): typeof import("re2js") => require("re2js");

/** What is wrong with a pattern, or null. */
export function checkLinearRegex(pattern: string): RegexMistake | null {
  if (isPlainRegex(pattern)) return null;
  const regex = compileLinearRegex(pattern, { dotAll: false });
  return regex.ok ? null : regex.error;
}

/** `dotAll` says whether `.` matches a newline. Anchors are the ends of the text, always. */
export function compileLinearRegex(
  pattern: string,
  options: { readonly dotAll: boolean },
): Result<LinearRegex, RegexMistake> {
  if (pattern.length > PATTERN_CHARACTERS_MAX) {
    return err({
      message: `the pattern is longer than ${PATTERN_CHARACTERS_MAX} characters`,
      hint: "split it into a list of patterns",
    });
  }
  if (setsMultiline(pattern)) {
    return err({
      message: "the flag `m` would let a newline inside an argument stand for the start or end",
      hint: "remove `m`: `^` and `$` are the two ends of argv",
    });
  }
  const { RE2JS, RE2JSException } = engine();
  try {
    const regex = RE2JS.compile(pattern, options.dotAll ? RE2JS.DOTALL : 0);
    if (regex.programSize() > INSTRUCTIONS_MAX) {
      return err({
        message: "the pattern is too large once its repetitions are written out",
        hint: "use smaller repetition counts, or split it into a list of patterns",
      });
    }
    return ok(bounded(regex));
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return err(describe(pattern, error.message));
  }
}

function bounded(regex: RE2JS): LinearRegex {
  let limited = false;
  // The automaton is made at the first use that needs one, so its limit is set after that use.
  const limit = (): void => {
    const automaton = regex.re2().lazyDFA as { stateBudget: number; memBudget: number } | null;
    if (automaton === null) return;
    automaton.memBudget -= AUTOMATON_BYTES_GIVEN - AUTOMATON_BYTES_MAX;
    automaton.stateBudget = AUTOMATON_BYTES_MAX;
    limited = true;
  };
  return {
    test(text) {
      const found = regex.test(text);
      if (!limited) limit();
      return found;
    },
    testWhole(text) {
      const found = regex.testExact(text);
      if (!limited) limit();
      return found;
    },
  };
}

/** Makes text a pattern that matches exactly that text. */
export function quoteRegex(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}-]/g, "\\$&");
}

/** One token a step: quoted text, an escape, a character class, or the flags of a group. */
const TOKENS = new RegExp(
  [
    /\\Q[\s\S]*?(?:\\E|$)/,
    /\\[\s\S]/,
    /\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]/,
    /\(\?([a-zA-Z]*)(?:-[a-zA-Z]*)?[:)]/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

function setsMultiline(pattern: string): boolean {
  if (!pattern.includes("(?")) return false;
  for (const match of pattern.matchAll(TOKENS)) {
    if (match[1]?.includes("m")) return true;
  }
  return false;
}

function describe(pattern: string, raw: string): RegexMistake {
  const message = raw.replace(/^error parsing regexp: /, "");
  if (/\(\?<?[=!]/.test(pattern)) {
    return {
      message,
      hint: "patterns run on a linear-time engine, which has no lookaround; use a `_not` key",
    };
  }
  if (/\\[1-9]|\\k</.test(pattern)) {
    return { message, hint: "patterns run on a linear-time engine, which has no backreferences" };
  }
  if (/\(\?>|[*+?}]\+/.test(pattern)) {
    return {
      message,
      hint: "a linear-time engine needs no atomic groups or possessive repetition; leave them out",
    };
  }
  if (message.startsWith("invalid repeat count")) {
    return { message, hint: "a repetition may count up to 1000, nested ones multiplied" };
  }
  return { message, hint: null };
}
