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
  /** Of a server that the policy allows: on 127.0.0.1, and somebody else's on 127.0.0.2. */
  readonly allowedPort: number;
  /** Of a server on 127.0.0.1 that it does not allow. */
  readonly strangePort: number;
  /** The proxy of the sandbox; null without one. */
  readonly proxy: URL | null;
}

export type Area = "exec" | "supervisor" | "files" | "kernel" | "network";

export interface Attempt {
  readonly id: string;
  readonly area: Area;
  readonly title: string;
  /** Work must be possible inside: a sandbox that refuses everything holds everything, too. */
  readonly kind: "escape" | "work";
  /** The answers that mean that it was held. */
  readonly refusals: readonly string[];
  /** The answers outside that show that the attempt works; null: any but a refusal. */
  readonly controls: readonly string[] | null;
  /** `OK`, the name of an errno, `n/a: why`, or `failed: why` if it could not be made. */
  readonly make: (ground: Ground) => string;
}

export interface Outcome {
  readonly state: "works" | "broken" | "held" | "not-held" | "not-applicable";
  /** What the attempt was answered; or why it says nothing. */
  readonly note: string;
}

/** Work that an area must leave possible. */
export const work = (
  area: Area,
  id: string,
  title: string,
  make: (ground: Ground) => string,
): Attempt => ({
  id: `work-${id}`,
  area,
  title,
  kind: "work",
  refusals: [],
  controls: ["OK"],
  make,
});

/** What a machine answers that refuses something by itself, or does not have it. */
const OWN_REFUSALS = ["EPERM", "EACCES", "ENOSYS", "EXDEV"];
const NOT_APPLICABLE = "n/a: ";

/**
 * Compares the answer inside with the one outside. An attempt that does not work outside either
 * shows nothing, and must not pass for one that was held.
 */
export function judgeAttempt(
  { kind, refusals, controls }: Pick<Attempt, "kind" | "refusals" | "controls">,
  inside: string | undefined,
  outside: string | undefined,
): Outcome {
  if (inside === undefined || outside === undefined) {
    return { state: kind === "work" ? "broken" : "not-held", note: "there was no answer" };
  }
  for (const each of [inside, outside]) {
    if (each.startsWith(NOT_APPLICABLE)) {
      return { state: "not-applicable", note: each.slice(NOT_APPLICABLE.length) };
    }
  }
  if (kind === "work") return judgeWork(inside, outside);
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

function judgeWork(inside: string, outside: string): Outcome {
  if (outside !== "OK") {
    const note = `it does not work without faraday either: ${outside}`;
    return { state: "not-applicable", note };
  }
  return { state: inside === "OK" ? "works" : "broken", note: inside };
}
