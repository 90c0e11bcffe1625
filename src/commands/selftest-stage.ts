import type { Attempt, Ground } from "./selftest-attempts.ts";
import {
  EXEC_ATTEMPTS,
  execveatStage,
  raceCallerStage,
  raceFlipperStage,
} from "./selftest-exec.ts";
import { FILE_ATTEMPTS } from "./selftest-files.ts";
import { KERNEL_ATTEMPTS, SUPERVISOR_ATTEMPTS } from "./selftest-kernel.ts";

/** The filter of one's own comes late: what has no answer yet must not die with it. */
export const ATTEMPTS: readonly Attempt[] = [
  ...EXEC_ATTEMPTS,
  ...SUPERVISOR_ATTEMPTS,
  ...FILE_ATTEMPTS,
  ...KERNEL_ATTEMPTS,
];

/** The stage of `selftest` that runs once inside and once outside of a sandbox. */
export function runAttempt(words: readonly string[]): number {
  const [stage, ...rest] = words;
  const [first = "", second = "", third = ""] = rest;
  switch (stage) {
    case "all":
      return makeAll(first, second);
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

/** Prints the answers as one JSON object. Without a target it is the parent: the supervisor. */
function makeAll(directory: string, target: string): number {
  const ground: Ground = {
    bin: `${directory}/bin`,
    work: `${directory}/work`,
    free: `${directory}/work/free`,
    outside: `${directory}/outside`,
    target: target === "" ? process.ppid : Number(target),
  };
  const answers: Record<string, string> = {};
  for (const { id, make } of ATTEMPTS) {
    try {
      answers[id] = make(ground);
    } catch (error) {
      answers[id] = `failed: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  process.stdout.write(`${JSON.stringify(answers)}\n`);
  return 0;
}
