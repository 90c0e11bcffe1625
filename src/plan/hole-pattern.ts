import { compileGlob, type GlobToken, parseGlob } from "../policy/glob-pattern.ts";
import type { PathGrant } from "../policy/model.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { braceOptions } from "./brace-options.ts";
import { absolutePath } from "./path-facts.ts";

/** One step of a hole's path behind its fixed part. */
export type HoleSegment =
  | { readonly kind: "name"; readonly matches: (name: string) => boolean }
  | { readonly kind: "any-depth" };

export interface HolePattern {
  /** The path before the first wildcard: absolute, links not resolved. */
  readonly base: string;
  readonly rest: readonly HoleSegment[];
  readonly grant: PathGrant;
}

/** Reads one entry of `deny_globs`; the error is a sentence. */
export function holePatterns(
  grant: PathGrant,
  cwd: string,
): Result<readonly HolePattern[], string> {
  const parsed = parseGlob(grant.glob);
  if (!parsed.ok) return parsed;
  const [only] = parsed.value;
  if (parsed.value.length === 1 && only?.kind === "text") {
    return ok([{ base: absolutePath(only.text, cwd), rest: [], grant }]);
  }
  const options = braceOptions(parsed.value);
  if (options === null) return err("the braces stand for too many paths");
  const patterns: HolePattern[] = [];
  for (const tokens of options) {
    const pattern = holePattern(tokens, grant, cwd);
    if (!pattern.ok) return pattern;
    patterns.push(pattern.value);
  }
  return ok(patterns);
}

function holePattern(
  tokens: readonly GlobToken[],
  grant: PathGrant,
  cwd: string,
): Result<HolePattern, string> {
  const segments = splitSegments(tokens);
  if (segments === null) return err("`**` must stand alone between two slashes");
  // A directory is a hole with all that is in it, so `x/**` says no more than `x`.
  while (segments.at(-1) === "any-depth") segments.pop();
  const fixed: string[] = [];
  while (segments.length > 0) {
    const text = plainText(segments[0]);
    if (text === null) break;
    fixed.push(text);
    segments.shift();
  }
  const path = fixed.join("/");
  return ok({
    base: absolutePath(fixed[0] === "" ? `/${path}` : path, cwd),
    rest: segments.map(
      (segment): HoleSegment =>
        segment === "any-depth"
          ? { kind: "any-depth" }
          : { kind: "name", matches: compileGlob(segment) },
    ),
    grant,
  });
}

type RawSegment = GlobToken[] | "any-depth";

/** Null if a `**` is only a part of a segment. An absolute path begins with an empty segment. */
function splitSegments(tokens: readonly GlobToken[]): RawSegment[] | null {
  const segments: RawSegment[] = [];
  let open: GlobToken[] = [];
  let isFresh = true;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === "globstar") {
      if (!isFresh || index !== tokens.length - 1) return null;
      segments.push("any-depth");
      return segments;
    }
    if (token.kind === "directories") {
      segments.push("any-depth");
      continue;
    }
    if (token.kind !== "text") {
      open.push(token);
      isFresh = false;
      continue;
    }
    const parts = token.text.split("/");
    for (const [at, part] of parts.entries()) {
      if (part !== "") open.push({ kind: "text", text: part });
      const isLast = at === parts.length - 1;
      if (!isLast) {
        if (open.length > 0 || segments.length === 0) segments.push(open);
        open = [];
      }
      isFresh = part === "";
    }
  }
  if (open.length > 0) segments.push(open);
  return segments;
}

/** The text of a segment without wildcards; the empty one before a leading slash too. */
function plainText(segment: RawSegment | undefined): string | null {
  if (segment === undefined || segment === "any-depth") return null;
  if (segment.length === 0) return "";
  const [token] = segment;
  return segment.length === 1 && token?.kind === "text" ? token.text : null;
}
