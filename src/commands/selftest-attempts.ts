/** Where an attempt is made. Everything in it is made for the purpose and thrown away. */
export interface Ground {
  /** Programs: allowed, denied, and the same as scripts. */
  readonly bin: string;
  /** Granted, with links that lead out of it and a hole in it. */
  readonly work: string;
  /** Granted as a whole: beside the hole nothing can be created. */
  readonly free: string;
  /** Not granted. */
  readonly outside: string;
  /** The supervisor; without a sandbox, a process that stands in for it. */
  readonly target: number;
}

export type Area = "exec" | "supervisor" | "files" | "kernel" | "network";

export interface Attempt {
  readonly id: string;
  readonly area: Area;
  readonly title: string;
  /** The answers that mean that it was held. */
  readonly refusals: readonly string[];
  /** The answers outside that show that the attempt works; null: any but a refusal. */
  readonly controls: readonly string[] | null;
  /** `OK`, the name of an errno, `n/a: why`, or `failed: why` if it could not be made. */
  readonly make: (ground: Ground) => string;
}

export interface Outcome {
  readonly state: "held" | "not-held" | "not-applicable";
  /** What the attempt was answered; or why it says nothing. */
  readonly note: string;
}

/** What a machine answers that refuses something by itself, or does not have it. */
const OWN_REFUSALS = ["EPERM", "EACCES", "ENOSYS", "EXDEV"];
const NOT_APPLICABLE = "n/a: ";

/**
 * Compares the answer inside with the one outside. An attempt that does not work outside either
 * shows nothing, and must not pass for one that was held.
 */
export function judgeAttempt(
  { refusals, controls }: Pick<Attempt, "refusals" | "controls">,
  inside: string | undefined,
  outside: string | undefined,
): Outcome {
  if (inside === undefined || outside === undefined) {
    return { state: "not-held", note: "there was no answer" };
  }
  for (const each of [inside, outside]) {
    if (each.startsWith(NOT_APPLICABLE)) {
      return { state: "not-applicable", note: each.slice(NOT_APPLICABLE.length) };
    }
  }
  if (!refusals.includes(inside)) {
    const note = inside.startsWith("failed: ") ? inside : `answered ${inside}`;
    return { state: "not-held", note };
  }
  const works = controls?.includes(outside) ?? !OWN_REFUSALS.includes(outside);
  if (!works) {
    const note = `it does not work without faraday either: ${outside}`;
    return { state: "not-applicable", note };
  }
  return { state: "held", note: `${inside}; without faraday ${outside}` };
}
