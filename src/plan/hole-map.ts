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
    for (const path of holes.paths.keys()) this.#addWay(path);
    for (const path of holes.closed.keys()) this.#addWay(path);
  }

  #addWay(path: string): void {
    for (let at = path; !this.#ways.has(at); at = above(at)) this.#ways.add(at);
  }

  /** With more holes. */
  plus(paths: readonly string[], because: string): HoleMap {
    const more = paths.map((path) => [path, because] as const);
    const { closed } = this.#holes;
    return new HoleMap({ paths: new Map([...this.#holes.paths, ...more]), closed });
  }

  /** The glob of the hole that the path is or lies in. */
  around(path: string): string | null {
    for (let at = path; ; at = above(at)) {
      const glob = this.#holes.paths.get(at);
      if (glob !== undefined) return glob;
      if (at === "/") return null;
    }
  }

  /** Whether what is new in it might be a hole. */
  isClosed(directory: string): boolean {
    return this.#holes.closed.has(directory);
  }

  isHole(path: string): boolean {
    return this.#holes.paths.has(path);
  }

  /** True for a hole, for a directory with closed entries, and for all that is above either. */
  leadsFrom(path: string): boolean {
    return this.#ways.has(path);
  }
}

/** The directory that an absolute path lies in; `/` for itself. */
export function above(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
