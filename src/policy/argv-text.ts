import type { Breadth } from "./breadth.ts";
import { baseName } from "./path-name.ts";

/**
 * An argument list as the text that regular expressions search: joined by single spaces. Its first
 * word is whatever the caller wrote there, so it is not taken at its word: `["git status", "push"]`
 * reads like a status and is a push, and `["", "push"]` hides what a pattern expects at the start.
 */
export class ArgvText {
  /** As given. */
  readonly joined: string;
  readonly #argv: readonly string[];
  /** The program's path as invoked, and as it really is. */
  readonly #exe: string;
  readonly #realExe: string;
  #named: string | null = null;

  constructor(argv: readonly string[], exe: string, realExe: string) {
    this.joined = argv.join(" ");
    this.#argv = argv;
    this.#exe = exe;
    this.#realExe = realExe;
  }

  /**
   * Wide, it is enough that the text matches with the program's own name as its first word.
   * Narrow, a first word with a space in it must be the program's own name, or nothing matches.
   */
  matches(search: (text: string) => boolean, breadth: Breadth): boolean {
    if (breadth === "narrow") return !this.#isDisguised() && search(this.joined);
    if (search(this.joined)) return true;
    const named = this.#withOwnName();
    return named !== this.joined && search(named);
  }

  #isDisguised(): boolean {
    const first = this.#argv[0] ?? "";
    if (!/\s/.test(first)) return false;
    return first !== this.#realExe && first !== baseName(this.#realExe);
  }

  #withOwnName(): string {
    if (this.#named === null) {
      const own = baseName(this.#exe);
      const same = this.#argv[0] === own;
      this.#named = same ? this.joined : [own, ...this.#argv.slice(1)].join(" ");
    }
    return this.#named;
  }
}
