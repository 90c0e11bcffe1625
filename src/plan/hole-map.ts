import type { Holes } from "./find-holes.ts";

/**
 * Holes by path, and the directories that lead to them: a seal asks for hundreds of paths whether
 * any of a hundred holes concerns them, in a process that has just started.
 */
export class HoleMap {
  readonly #holes: Holes;
  readonly #ways = new Set<string>();

  constructor(holes: Holes) {
    this.#holes = holes;
    for (const path of [...holes.paths.keys(), ...holes.closed.keys()]) {
      for (const each of upwards(path)) {
        if (this.#ways.has(each)) break;
        this.#ways.add(each);
      }
    }
  }

  /** With more holes. */
  plus(paths: readonly string[], because: string): HoleMap {
    const more = paths.map((path) => [path, because] as const);
    const { closed } = this.#holes;
    return new HoleMap({ paths: new Map([...this.#holes.paths, ...more]), closed });
  }

  /** The glob of the hole that the path is or lies in. */
  around(path: string): string | null {
    for (const each of upwards(path)) {
      const glob = this.#holes.paths.get(each);
      if (glob !== undefined) return glob;
    }
    return null;
  }

  isHole(path: string): boolean {
    return this.#holes.paths.has(path);
  }

  /** True for a hole, for a directory with closed entries, and for all that is above either. */
  leadsFrom(path: string): boolean {
    return this.#ways.has(path);
  }
}

/** A path and the directories above it, up to `/`. */
function* upwards(path: string): Generator<string> {
  for (let at = path; at !== "/" && at !== ""; at = at.slice(0, at.lastIndexOf("/"))) yield at;
  yield "/";
}
