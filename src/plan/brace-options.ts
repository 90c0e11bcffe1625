import type { GlobToken } from "../policy/glob-pattern.ts";

const OPTIONS_MAX = 64;

/**
 * A glob without its `{a,b}`: all that they stand for, one token list each. Null where that would
 * be too many.
 */
export function braceOptions(tokens: readonly GlobToken[]): readonly GlobToken[][] | null {
  if (!tokens.some(({ kind }) => kind === "either")) return [[...tokens]];
  let options: GlobToken[][] = [[]];
  for (const token of tokens) {
    if (token.kind !== "either") {
      options = options.map((option) => appended(option, token));
      continue;
    }
    const ends: GlobToken[][] = [];
    for (const inside of token.options) {
      const more = braceOptions(inside);
      if (more === null) return null;
      ends.push(...more);
    }
    if (options.length * ends.length > OPTIONS_MAX) return null;
    options = options.flatMap((start) =>
      ends.map((end) => end.reduce((whole, each) => appended(whole, each), start)),
    );
  }
  return options;
}

/** Neighbouring texts become one, so that the path before the first wildcard is a single token. */
function appended(tokens: readonly GlobToken[], token: GlobToken): GlobToken[] {
  const last = tokens.at(-1);
  if (token.kind !== "text" || last?.kind !== "text") return [...tokens, token];
  return [...tokens.slice(0, -1), { kind: "text", text: last.text + token.text }];
}
