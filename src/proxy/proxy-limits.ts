/** How long and how much; a parameter, so that tests need not wait. */
export interface ProxyLimits {
  readonly connectionsMax: number;
  /** A client must have sent its whole head by then. */
  readonly headMs: number;
  readonly resolveMs: number;
  readonly connectMs: number;
  /** An upstream must have begun to answer; models think long. */
  readonly answerMs: number;
  /** A connection over which nothing passes either way. */
  readonly idleMs: number;
  /** A refused client may still be sending; closing at once would lose the answer. */
  readonly lingerMs: number;
  readonly sweepMs: number;
}

export const DEFAULT_LIMITS: ProxyLimits = {
  connectionsMax: 4096,
  headMs: 60_000,
  resolveMs: 10_000,
  connectMs: 20_000,
  answerMs: 900_000,
  idleMs: 3_600_000,
  lingerMs: 2000,
  sweepMs: 5_000,
};
