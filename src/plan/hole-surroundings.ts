import { HoleMap } from "./hole-map.ts";
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

  /** The grant that the path lies in; null outside of them all, and in a hole. */
  rootOf(path: string): string | null {
    const root = this.#roots.find((each) => isBeneath(path, each));
    return root === undefined || this.#holes.around(path) !== null ? null : root;
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
