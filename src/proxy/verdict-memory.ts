import type { NetVerdict } from "../policy/network-judge.ts";

/** Agents talk to few hosts; whoever makes up names must not make this grow. */
const VERDICTS_MAX = 512;

/**
 * Verdicts that have been reached before. A policy does not change while it runs, so a verdict
 * depends on nothing but the texts it was asked with.
 */
export class VerdictMemory {
  readonly #verdicts = new Map<string, NetVerdict>();

  /** `key` must hold everything that `judge` looks at. */
  recall(key: string, judge: () => NetVerdict): NetVerdict {
    const known = this.#verdicts.get(key);
    if (known !== undefined) return known;
    const verdict = judge();
    if (this.#verdicts.size >= VERDICTS_MAX) this.#verdicts.clear();
    this.#verdicts.set(key, verdict);
    return verdict;
  }
}
