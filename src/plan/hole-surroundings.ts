import { above, HoleMap } from "./hole-map.ts";
import { isBeneath } from "./path-facts.ts";

/** A grant as the policy means it, its holes left aside: rights over a tree. */
export interface TreeRights {
  readonly path: string;
  readonly bits: number;
}

/**
 * Writable grants that have holes in them. Landlock grants only what was there at the start, so
 * what comes to be beside the holes is opened, made, moved and removed by the supervisor.
 */
export interface HoleSurroundings {
  readonly roots: readonly string[];
  /** Every grant: those of one path add up, as they do in the kernel. */
  readonly rights: readonly TreeRights[];
  readonly holes: readonly string[];
  /** Directories whose new entries might match a hole's pattern. */
  readonly closed: readonly string[];
}

/** Tells by real paths what the supervisor may do there. */
export class SurroundingsMap {
  readonly #roots: readonly string[];
  readonly #rights: readonly TreeRights[];
  readonly #holes: HoleMap;
  readonly #closed: ReadonlySet<string>;

  constructor({ roots, rights, holes, closed }: HoleSurroundings) {
    this.#roots = roots;
    this.#rights = rights;
    this.#holes = new HoleMap({
      paths: new Map(holes.map((path) => [path, path])),
      closed: new Map(closed.map((path) => [path, path])),
    });
    this.#closed = new Set(closed);
  }

  /** The grant that the path lies in; null outside of them all, and where a hole is or might be. */
  rootOf(path: string): string | null {
    const root = this.#roots.find((each) => isBeneath(path, each));
    if (root === undefined || this.#holes.around(path) !== null) return null;
    return this.#isInClosed(path) ? null : root;
  }

  /**
   * What was in a closed directory at the start has its own rule of the kernel. What somebody else
   * put there since may be just what the pattern means.
   */
  #isInClosed(path: string): boolean {
    if (this.#closed.size === 0) return false;
    for (let at = path; at !== "/"; at = above(at)) {
      if (this.#closed.has(above(at)) && !this.#holes.leadsFrom(at)) return true;
    }
    return false;
  }

  /** What the policy grants there, for a path that is in no hole. */
  rightsAt(path: string): number {
    return this.#rights.reduce(
      (sum, each) => (isBeneath(path, each.path) ? sum | each.bits : sum),
      0,
    );
  }

  /** Whether a hole lies below: what moves such a directory, or stands for it, moves the hole. */
  leadsToHole(path: string): boolean {
    return this.#holes.leadsFrom(path);
  }

  isClosed(directory: string): boolean {
    return this.#closed.has(directory);
  }
}
