import { TRAPPED_CALLS } from "../../ffi/abi/syscall-numbers.ts";
import { ARCH } from "../../ffi/calls/libc.ts";
import type { PidArgument } from "./peer-guard.ts";

export interface CallNumbers {
  readonly execve: number;
  readonly execveat: number;
  /** Trapped when it makes its caller the parent of orphans. */
  readonly prctl: number;
  /** Where a peer call (anything else that is trapped) has its pid. */
  readonly pidArgument: (number: number) => PidArgument;
}

/** The trapped calls by the numbers of this machine. */
export function callNumbers(): CallNumbers {
  const numbers = TRAPPED_CALLS[ARCH];
  const second = new Set<number>([numbers.setpriority, numbers.ioprio_set]);
  return {
    execve: numbers.execve,
    execveat: numbers.execveat,
    prctl: numbers.prctl,
    pidArgument: (number) => (second.has(number) ? 1 : 0),
  };
}
