import { writeSync } from "node:fs";
import type { Attempt, Ground } from "./selftest-attempts.ts";
import {
  EXEC_ATTEMPTS,
  execveatStage,
  raceCallerStage,
  raceFlipperStage,
} from "./selftest-exec.ts";
import { FILE_ATTEMPTS } from "./selftest-files.ts";
import { KERNEL_ATTEMPTS, SUPERVISOR_ATTEMPTS } from "./selftest-kernel.ts";
import { NETWORK_ATTEMPTS } from "./selftest-network.ts";

/** The filter of one's own comes late: what has no answer yet must not die with it. */
export const ATTEMPTS: readonly Attempt[] = [
  ...EXEC_ATTEMPTS,
  ...SUPERVISOR_ATTEMPTS,
  ...FILE_ATTEMPTS,
  ...NETWORK_ATTEMPTS,
  ...KERNEL_ATTEMPTS,
];

/** The stage of `selftest` that runs once inside and once outside of a sandbox. */
export function runAttempt(words: readonly string[]): number {
  const [stage, ...rest] = words;
  const [first = "", second = "", third = "", fourth = ""] = rest;
  switch (stage) {
    case "all":
      return makeAll(first, { allowed: Number(second), strange: Number(third) }, fourth);
    case "execveat":
      return execveatStage(first);
    case "race-caller":
      return raceCallerStage(first, second);
    case "race-flipper":
      return raceFlipperStage(first, second, third);
    default:
      return 2;
  }
}

/**
 * Prints each answer on a line of its own as it comes, `id answer`: if one attempt ends the whole
 * stage, the others have still been answered. Without a target it is the parent: the supervisor. */
function makeAll(
  directory: string,
  ports: { readonly allowed: number; readonly strange: number },
  target: string,
): number {
  const proxy = process.env.HTTP_PROXY;
  const ground: Ground = {
    bin: `${directory}/bin`,
    work: `${directory}/work`,
    free: `${directory}/work/free`,
    outside: `${directory}/outside`,
    target: target === "" ? process.ppid : Number(target),
    allowedPort: ports.allowed,
    strangePort: ports.strange,
    proxy: proxy === undefined ? null : new URL(proxy),
  };
  for (const { id, make } of ATTEMPTS) {
    writeSync(1, `${id} ${answerOf(() => make(ground))}\n`);
  }
  return 0;
}

function answerOf(make: () => string): string {
  try {
    return make();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return `failed: ${message.replaceAll("\n", " ")}`;
  }
}
