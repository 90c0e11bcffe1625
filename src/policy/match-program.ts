import type { Breadth } from "./breadth.ts";
import { compileGlob, type GlobToken, parseGlob } from "./glob-pattern.ts";
import { baseName, MEMFD_PREFIX, memfdSpelling } from "./path-name.ts";
import type { RequestFacts } from "./request-facts.ts";

type NameTest = (name: string) => boolean;

/**
 * A test of the program's names, split by what a match is worth. A file that the agent may write
 * can have any last name it likes, so there a match that says nothing of the place proves nothing.
 */
export interface ProgramPattern {
  /** Tests that say where the program lies. */
  readonly placed: NameTest;
  /** Tests by the last part of the name alone. */
  readonly placeless: NameTest;
}

const never: NameTest = () => false;

export function exePattern(values: readonly string[]): ProgramPattern {
  const paths = new Set(values.map(memfdSpelling));
  return { placed: (name) => paths.has(name), placeless: never };
}

export function baseNamePattern(values: readonly string[]): ProgramPattern {
  const names = new Set(values);
  return { placed: never, placeless: (name) => names.has(baseName(name)) };
}

export function exeGlobPattern(values: readonly string[]): ProgramPattern {
  const globs = values.map((value) => parsedGlob(memfdSpelling(value)));
  return {
    placed: anyOf(globs.filter((tokens) => !isPlaceless(tokens)).map(compileGlob)),
    placeless: anyOf(globs.filter(isPlaceless).map(compileGlob)),
  };
}

/** Whether the program of a request has a name of the pattern, read wide or narrow. */
export function matchesProgram(
  pattern: ProgramPattern,
  breadth: Breadth,
  facts: RequestFacts,
): boolean {
  const { placed, placeless } = pattern;
  if (breadth === "wide") {
    for (const name of facts.names) if (placed(name) || placeless(name)) return true;
    return false;
  }
  const { exe, realExe, invokedIsPlantable, realIsPlantable } = facts.request;
  if (realExe !== null) {
    if (placed(realExe)) return true;
    if (!realIsPlantable && placeless(realExe)) return true;
  }
  if (invokedIsPlantable) return false;
  // A link that is not the agent's own may still lead to a file that is.
  return placed(exe) || (!realIsPlantable && placeless(exe));
}

/**
 * Whether a glob names programs without saying in which directory: `**\/git`, `/*\/git`. A glob of
 * everything (`**`, `/**`) makes no claim that a planted name could abuse.
 */
export function isPlaceless(tokens: readonly GlobToken[]): boolean {
  if (tokens.every(isAnything)) return false;
  return !namesPlace("", tokens, { left: EXPANSIONS_MAX });
}

/** `{a,b}` multiplies; a glob that goes on for longer is taken for one without a place. */
const EXPANSIONS_MAX = 64;

function isAnything(token: GlobToken): boolean {
  if (token.kind === "text") return token.text === "/";
  return token.kind === "star" || token.kind === "globstar" || token.kind === "directories";
}

/** Whether all that the glob expands to has a directory, or is one path, before any wildcard. */
function namesPlace(
  start: string,
  tokens: readonly GlobToken[],
  budget: { left: number },
): boolean {
  const [first, ...rest] = tokens;
  if (first === undefined) return true;
  if (first.kind === "text") {
    const text = start + first.text;
    // A memfd has no place, and rules that name one go by its name on purpose.
    if (text.indexOf("/", 1) > 0 || text.startsWith(MEMFD_PREFIX)) return true;
    return namesPlace(text, rest, budget);
  }
  if (first.kind !== "either" || budget.left-- <= 0) return false;
  return first.options.every((option) => namesPlace(start, [...option, ...rest], budget));
}

export function anyOf(tests: readonly NameTest[]): NameTest {
  const [only] = tests;
  if (only === undefined) return never;
  if (tests.length === 1) return only;
  return (name) => {
    for (const test of tests) if (test(name)) return true;
    return false;
  };
}

/** The tokens of a glob that was checked when the policy was read. */
export function parsedGlob(glob: string): readonly GlobToken[] {
  const tokens = parseGlob(glob);
  if (!tokens.ok) throw new Error(`bad glob in a checked policy: ${tokens.error}`);
  return tokens.value;
}
