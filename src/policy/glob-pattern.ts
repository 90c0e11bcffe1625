/**
 * Shell-style globs over paths. Hand-written because the globs on npm (picomatch, minimatch)
 * compile to backtracking regular expressions: these compile to a comparison where the glob is
 * simple, which is nearly always, and to a linear-time expression where it is not.
 *
 *   *  any characters but `/`        ?  one character but `/`
 *   ** any characters                **\/  any number of directories, also none
 *   [a-z] [!a]  one of, none of      {a,b}  either      \x  the character x itself
 */
import { compileLinearRegex } from "./linear-regex.ts";
import { err, ok, type Result } from "./result.ts";

export type GlobToken =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "star" | "globstar" | "directories" | "any" }
  | { readonly kind: "class"; readonly ranges: readonly Range[]; readonly negated: boolean }
  | { readonly kind: "either"; readonly options: readonly (readonly GlobToken[])[] };
type Range = readonly [low: number, high: number];

const GLOB_CHARACTERS_MAX = 4096;
const BRACES_DEPTH_MAX = 8;
const GLOB_TEXTS_MAX = 1024;
const SLASH = 0x2f;
const CODE_POINT_MAX = 0x10ffff;

/** Everything but these stands for itself, and hardly a path of a policy has any. */
const SPECIAL = /[\\*?[{]/;

class GlobMistake extends Error {}

/** Reads a glob; the error is a sentence that says what is wrong with it. */
export function parseGlob(glob: string): Result<readonly GlobToken[], string> {
  if (glob.length > GLOB_CHARACTERS_MAX) {
    return err(`the glob is longer than ${GLOB_CHARACTERS_MAX} characters`);
  }
  if (!SPECIAL.test(glob)) return ok(glob === "" ? [] : [{ kind: "text", text: glob }]);
  try {
    return ok(new GlobReader(glob).readAll());
  } catch (error) {
    if (error instanceof GlobMistake) return err(error.message);
    throw error;
  }
}

/** Makes text a glob that matches exactly that text. */
export function quoteGlob(text: string): string {
  return text.replace(/[\\*?[\]{},!]/g, "\\$&");
}

/** Compiles a glob that `parseGlob` accepts. */
export function compileGlob(tokens: readonly GlobToken[]): (path: string) => boolean {
  const texts = globTexts(tokens);
  if (texts !== null) {
    const paths = new Set(texts);
    return (path) => paths.has(path);
  }
  return compileSimple(tokens) ?? compileAny(tokens);
}

/** All that a glob of plain text and `{a,b}` stands for; null if it has wildcards or too much. */
export function globTexts(tokens: readonly GlobToken[]): string[] | null {
  let texts = [""];
  for (const token of tokens) {
    let ends: string[];
    if (token.kind === "text") ends = [token.text];
    else if (token.kind === "either") {
      ends = [];
      for (const option of token.options) {
        const more = globTexts(option);
        if (more === null) return null;
        ends.push(...more);
      }
    } else return null;
    if (texts.length * ends.length > GLOB_TEXTS_MAX) return null;
    texts = texts.flatMap((start) => ends.map((end) => start + end));
  }
  return texts;
}

function compileSimple(tokens: readonly GlobToken[]): ((path: string) => boolean) | null {
  const [first, second, third] = tokens;
  if (first === undefined) return null;
  if (tokens.length === 1) return first.kind === "globstar" ? () => true : null;
  if (tokens.length === 2 && first.kind === "text") {
    const { text } = first;
    if (second?.kind === "globstar") return (path) => path.startsWith(text);
    if (second?.kind === "star") {
      return (path) => path.startsWith(text) && path.indexOf("/", text.length) < 0;
    }
  }
  if (first.kind !== "directories" || second?.kind !== "text") return null;
  const { text } = second;
  const below = `/${text}`;
  if (tokens.length === 2) return (path) => path === text || path.endsWith(below);
  if (tokens.length === 3 && third?.kind === "star" && !text.includes("/")) {
    return (path) => path.startsWith(text, path.lastIndexOf("/") + 1);
  }
  return null;
}

function compileAny(tokens: readonly GlobToken[]): (path: string) => boolean {
  const regex = compileLinearRegex(toRegex(tokens), { dotAll: true });
  if (!regex.ok) throw new Error(`a glob became a bad expression: ${regex.error.message}`);
  return regex.value.testWhole;
}

function toRegex(tokens: readonly GlobToken[]): string {
  return tokens.map(tokenToRegex).join("");
}

function tokenToRegex(token: GlobToken): string {
  switch (token.kind) {
    case "text":
      return [...token.text].map((character) => codePoint(character.codePointAt(0) ?? 0)).join("");
    case "star":
      return "[^/]*";
    case "globstar":
      return ".*";
    case "directories":
      return "(?:.*/)?";
    case "any":
      return "[^/]";
    case "class":
      return classToRegex(token.ranges, token.negated);
    case "either":
      return `(?:${token.options.map(toRegex).join("|")})`;
  }
}

/** A class never matches `/`, not even where a range such as `[.-0]` passes over it. */
function classToRegex(ranges: readonly Range[], negated: boolean): string {
  if (negated) {
    return `[^/${ranges.map(rangeToRegex).join("")}]`;
  }
  const parts: Range[] = [];
  for (const [low, high] of ranges) {
    if (low > SLASH || high < SLASH) parts.push([low, high]);
    else {
      if (low < SLASH) parts.push([low, SLASH - 1]);
      if (high > SLASH) parts.push([SLASH + 1, high]);
    }
  }
  // Nothing is left of `[/]`: a class that no character is in.
  if (parts.length === 0) return `[^\\x{0}-${codePoint(CODE_POINT_MAX)}]`;
  return `[${parts.map(rangeToRegex).join("")}]`;
}

function rangeToRegex([low, high]: Range): string {
  return low === high ? codePoint(low) : `${codePoint(low)}-${codePoint(high)}`;
}

function codePoint(code: number): string {
  return `\\x{${code.toString(16)}}`;
}

class GlobReader {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(glob: string) {
    this.#characters = [...glob];
  }

  readAll(): GlobToken[] {
    return this.#read(0, true);
  }

  /** `fresh` says whether the first character starts a path segment. */
  #read(depth: number, fresh: boolean): GlobToken[] {
    const tokens: GlobToken[] = [];
    let text = "";
    const push = (token: GlobToken): void => {
      if (text !== "") tokens.push({ kind: "text", text });
      text = "";
      tokens.push(token);
    };
    const from = this.#at;
    for (;;) {
      const character = this.#characters[this.#at];
      if (character === undefined) break;
      const starts = this.#at === from ? fresh : this.#characters[this.#at - 1] === "/";
      if (depth > 0 && (character === "," || character === "}")) break;
      this.#at++;
      if (character === "*") push(this.#star(starts));
      else if (character === "?") push({ kind: "any" });
      else if (character === "[") push(this.#class());
      else if (character === "{") push(this.#either(depth + 1, starts));
      else if (character === "\\") text += this.#escaped();
      else text += character;
    }
    if (text !== "") tokens.push({ kind: "text", text });
    return tokens;
  }

  #star(startsSegment: boolean): GlobToken {
    if (this.#characters[this.#at] !== "*") return { kind: "star" };
    while (this.#characters[this.#at] === "*") this.#at++;
    if (!startsSegment || this.#characters[this.#at] !== "/") return { kind: "globstar" };
    this.#at++;
    return { kind: "directories" };
  }

  #escaped(): string {
    const character = this.#characters[this.#at++];
    if (character === undefined) throw new GlobMistake("the glob ends in a lone backslash");
    return character;
  }

  #either(depth: number, startsSegment: boolean): GlobToken {
    if (depth > BRACES_DEPTH_MAX) throw new GlobMistake("the braces are nested too deeply");
    const options: GlobToken[][] = [];
    for (;;) {
      options.push(this.#read(depth, startsSegment));
      const end = this.#characters[this.#at++];
      if (end === undefined) throw new GlobMistake("`{` is never closed");
      if (end === "}") return { kind: "either", options };
    }
  }

  #class(): GlobToken {
    const sign = this.#characters[this.#at];
    const negated = sign === "!" || sign === "^";
    if (negated) this.#at++;
    const ranges: Range[] = [];
    for (let first = true; ; first = false) {
      const character = this.#characters[this.#at];
      if (character === undefined) throw new GlobMistake("`[` is never closed");
      if (character === "]" && !first) break;
      if (character === "[" && this.#characters[this.#at + 1] === ":") {
        throw new GlobMistake("classes such as `[:alpha:]` are not known; write `[a-z]`");
      }
      ranges.push(this.#range());
    }
    this.#at++;
    return { kind: "class", ranges, negated };
  }

  #range(): Range {
    const low = this.#classCharacter();
    const dash = this.#characters[this.#at] === "-";
    const after = this.#characters[this.#at + 1];
    if (!dash || after === undefined || after === "]") return [low, low];
    this.#at++;
    const high = this.#classCharacter();
    if (high < low) throw new GlobMistake("the range in `[…]` runs backwards");
    return [low, high];
  }

  #classCharacter(): number {
    const character = this.#characters[this.#at++];
    if (character === undefined) throw new GlobMistake("`[` is never closed");
    const own = character === "\\" ? this.#escaped() : character;
    return own.codePointAt(0) ?? 0;
  }
}
