import type { NameTrust } from "./exec-judge.ts";
import type { PathView, ProgramFinder } from "./program-file.ts";

const REMEMBERED_MAX = 1024;

/**
 * Tells names that the agent may have made up. The text of a path does not show it: through
 * /proc/self/cwd, a descriptor, or a link that was there before, a name outside of the agent's
 * trees leads into them.
 */
export class PlantedNames {
  readonly #finder: ProgramFinder;
  readonly #trust: NameTrust;
  /** What the agent cannot have planted now, it cannot plant later either. */
  readonly #sound = new Set<string>();

  constructor(finder: ProgramFinder, trust: NameTrust) {
    this.#finder = finder;
    this.#trust = trust;
  }

  /** `invoked` is absolute, and leads to the file that is really at `realPath`. */
  has(invoked: string, realPath: string, view: PathView): boolean {
    if (!this.#trust.hasTrees) return false;
    if (this.#trust.isPlantable(invoked)) return true;
    if (invoked === realPath || this.#sound.has(invoked)) return false;
    const places = this.#finder.placesOf(invoked, view);
    if (places === null || places.some((place) => this.#trust.isPlantable(place))) return true;
    if (this.#sound.size >= REMEMBERED_MAX) this.#sound.clear();
    this.#sound.add(invoked);
    return false;
  }
}
