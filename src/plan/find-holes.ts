import type { Diagnostic } from "../policy/diagnostic.ts";
import { isEmbedded } from "../policy/embedded-name.ts";
import type { PathGrant } from "../policy/model.ts";
import { type HolePattern, type HoleSegment, holePatterns } from "./hole-pattern.ts";
import { isBeneath, joinPath, type PathFacts } from "./path-facts.ts";

/** Looking for the matches of a wildcard ends here; no start may take seconds. */
const ENTRIES_MAX = 20_000;
/** Keys and tokens are few files; a browser's profile, which nobody asked about, is many. */
const UNASKED_ENTRIES_MAX = 500;
const LINKS_MAX = 40;

/** Real paths that must not be reached, and the directories whose new entries must not be. */
export interface Holes {
  /** Each with the glob it comes from. */
  readonly paths: ReadonlyMap<string, string>;
  readonly closed: ReadonlyMap<string, string>;
}

export interface HoleSearch extends Holes {
  readonly errors: readonly Diagnostic[];
}

export interface HoleContext {
  readonly cwd: string;
  readonly facts: PathFacts;
  /** Real paths that the agent may write: what a `**` matches could be created there. */
  readonly writable: readonly string[];
  /** Those of them that an embedded policy grants wherever it is used: temporary directories. */
  readonly shared: readonly string[];
}

/** Finds what `deny_globs` means on this disk now, and refuses what cannot be held. */
export function findHoles(globs: readonly PathGrant[], context: HoleContext): HoleSearch {
  const search = new Search(context);
  for (const grant of globs) {
    const patterns = holePatterns(grant, context.cwd);
    if (!patterns.ok) search.refuse(grant, patterns.error, null);
    else for (const pattern of patterns.value) search.find(pattern);
  }
  search.checkOtherNames();
  return search;
}

class Search implements HoleSearch {
  readonly paths = new Map<string, string>();
  readonly closed = new Map<string, string>();
  readonly errors: Diagnostic[] = [];
  readonly #context: HoleContext;
  readonly #grants = new Map<string, PathGrant>();
  #visited = 0;

  constructor(context: HoleContext) {
    this.#context = context;
  }

  refuse(grant: PathGrant, why: string, hint: string | null): void {
    const { glob, span } = grant;
    const message = `the hole "${glob}" cannot be held: ${why}`;
    this.errors.push({ severity: "error", code: "hole-not-held", message, span, hint });
  }

  find(pattern: HolePattern): void {
    const { facts, writable } = this.#context;
    const { base, rest, grant } = pattern;
    const { kind, realPath } = facts.look(base);
    if (rest.length === 0) {
      if (kind !== "missing" || !this.#isUnasked(grant, realPath)) this.#add(base, grant);
      return;
    }
    const deep = rest.some((segment) => segment.kind === "any-depth");
    const tree = writable.find((each) => isBeneath(each, realPath) || isBeneath(realPath, each));
    if (deep && tree !== undefined) {
      this.refuse(
        grant,
        `what it matches could be created anywhere below ${tree}, which is writable`,
        "name the directories that hold such files, without `**`",
      );
      return;
    }
    // Nothing is there to be matched, so nothing may come to be there.
    if (kind !== "directory") {
      this.#add(base, grant);
      return;
    }
    this.#visited = 0;
    this.#walk(realPath, rest, [0], grant);
    if (this.#visited > ENTRIES_MAX) {
      const hint = "name the files, or the directories that they are in";
      this.refuse(grant, `more than ${ENTRIES_MAX} files would have to be looked at`, hint);
    }
  }

  /** `states` are positions in `rest` that the way to `directory` may have led to. */
  #walk(
    directory: string,
    rest: readonly HoleSegment[],
    states: readonly number[],
    grant: PathGrant,
  ): void {
    const reached = new Set(states);
    for (const at of reached) if (rest[at]?.kind === "any-depth") reached.add(at + 1);
    // With `**` a match counts if it is there at the start; the agent cannot add any.
    const isDeep = [...reached].some((at) => rest[at]?.kind === "any-depth");
    if (!isDeep) this.closed.set(directory, grant.glob);
    const entries = this.#context.facts.list(directory);
    // What cannot be searched for matches is kept closed as a whole.
    if (entries === null) this.#add(directory, grant);
    for (const { name, kind } of entries ?? []) {
      if (++this.#visited > ENTRIES_MAX) return;
      const path = joinPath(directory, name);
      const next = advance(rest, reached, name);
      if (next.has(rest.length)) this.#add(path, grant);
      else if (next.size > 0) this.#descend(path, kind, rest, [...next], grant);
    }
  }

  #descend(
    path: string,
    kind: "directory" | "file" | "link",
    rest: readonly HoleSegment[],
    next: readonly number[],
    grant: PathGrant,
  ): void {
    if (kind === "directory") this.#walk(path, rest, next, grant);
    if (kind !== "link") return;
    const named = next.filter((at) => rest[at]?.kind === "name");
    const target = this.#context.facts.look(path);
    // Like a shell's, `**` does not follow links; a named directory may well be one.
    if (named.length > 0 && target.kind === "directory") {
      this.#walk(target.realPath, rest, named, grant);
    }
  }

  /**
   * A hole closes the directories on its way. For one that is not there and that the user did not
   * ask for, /tmp is not closed: a home directory in it is thrown away with it.
   */
  #isUnasked({ span }: PathGrant, realPath: string): boolean {
    return isEmbedded(span?.file) && this.#context.shared.some((each) => isBeneath(realPath, each));
  }

  /**
   * A link is a hole where it stands, and so is what it points to. The hole is held by the names
   * that lead through links as well, for a link must not be replaced by a directory of its name.
   */
  #add(path: string, grant: PathGrant): void {
    const { facts } = this.#context;
    const slash = path.lastIndexOf("/");
    const parent = facts.look(slash <= 0 ? "/" : path.slice(0, slash)).realPath;
    const place = path === "/" ? "/" : joinPath(parent, path.slice(slash + 1));
    const { realPath } = facts.look(path);
    this.#addPlace(place, grant);
    if (realPath !== place) this.#addPlace(realPath, grant);
    if (realPath !== path) for (const name of this.#namesOf(path)) this.#addPlace(name, grant);
  }

  #addPlace(place: string, grant: PathGrant): void {
    this.#note(place, grant);
    for (const other of this.#context.facts.otherPlaces(place)) this.#note(other, grant);
  }

  #note(place: string, grant: PathGrant): void {
    this.paths.set(place, grant.glob);
    this.#grants.set(place, grant);
  }

  /** The path as it is written, and as it reads past each link on its way. */
  #namesOf(path: string): string[] {
    const { facts } = this.#context;
    const names = [path];
    for (let at = path; names.length <= LINKS_MAX && facts.look(at).realPath !== at; ) {
      const next = pastLink(at, facts);
      if (next === null) break;
      at = next;
      names.push(at);
    }
    return names;
  }

  /** A file with a second name outside of the hole can be had by that name. */
  checkOtherNames(): void {
    const { facts } = this.#context;
    for (const [path, grant] of this.#grants) {
      const isOurs = isEmbedded(grant.span?.file);
      const shared = facts.sharedFile(path, isOurs ? UNASKED_ENTRIES_MAX : ENTRIES_MAX);
      if (shared.kind === "found") {
        this.refuse(
          grant,
          `${shared.path} is a hard link, and the kernel would let it be had by its other name`,
          "make it a copy of its own: `cp -p FILE FILE.new && mv FILE.new FILE`",
        );
      } else if (shared.kind === "too-many" && !isOurs) {
        this.refuse(grant, `${path} holds too many files to look for hard links in`, null);
      }
    }
  }
}

/** Null if no link is on the way. */
function pastLink(path: string, facts: PathFacts): string | null {
  for (let end = path.indexOf("/", 1); ; end = path.indexOf("/", end + 1)) {
    const [start, rest] = end < 0 ? [path, ""] : [path.slice(0, end), path.slice(end)];
    const target = facts.target(start);
    if (target !== null) return target === "/" ? rest || "/" : target + rest;
    if (end < 0) return null;
  }
}

function advance(
  rest: readonly HoleSegment[],
  states: ReadonlySet<number>,
  name: string,
): ReadonlySet<number> {
  const next = new Set<number>();
  for (const at of states) {
    const segment = rest[at];
    if (segment?.kind === "any-depth") next.add(at);
    else if (segment?.matches(name) === true) next.add(at + 1);
  }
  return next;
}
