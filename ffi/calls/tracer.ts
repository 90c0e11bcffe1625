import { Errno } from "../abi/errno.ts";
import {
  PTRACE_DETACH,
  PTRACE_GETEVENTMSG,
  PTRACE_INTERRUPT,
  PTRACE_O_EXITKILL,
  PTRACE_O_TRACEEXEC,
  PTRACE_SEIZE,
  WALL,
  WNOHANG,
  WUNTRACED,
} from "../abi/ptrace.ts";
import { KernelBuffer, sys } from "./libc.ts";

/** What wait4 reported; `event` is a PTRACE_EVENT_* or 0. */
export type WaitReport =
  | { readonly pid: number; readonly kind: "exited"; readonly code: number }
  | { readonly pid: number; readonly kind: "signaled"; readonly signal: number }
  | { readonly pid: number; readonly kind: "stopped"; readonly signal: number; readonly event: number };

/**
 * ptrace and wait. The kernel knows a tracer by its thread, so one object serves one thread, and
 * that thread alone.
 */
export class Tracer {
  readonly #word = new KernelBuffer(8);
  readonly #status = new KernelBuffer(4);

  /** Attaches without stopping; an exec will be reported, and our death kills the tracee. */
  seize(tid: number): number {
    return sys("ptrace", PTRACE_SEIZE, tid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
  }

  interrupt(tid: number): number {
    return sys("ptrace", PTRACE_INTERRUPT, tid, 0, 0);
  }

  detach(tid: number, signal = 0): number {
    return sys("ptrace", PTRACE_DETACH, tid, 0, signal);
  }

  /** At an exec stop: the id the thread had before it became its process's leader. */
  formerTid(tid: number): number {
    if (sys("ptrace", PTRACE_GETEVENTMSG, tid, 0, this.#word.address) < 0) return tid;
    return this.#word.u64(0);
  }

  /** The next report of any child or tracee, without waiting: `none` yet, or no `children`. */
  next(): WaitReport | "none" | "childless" {
    const pid = sys("wait4", -1, this.#status.address, WNOHANG | WUNTRACED | WALL, 0);
    if (pid > 0) return decodeStatus(pid, this.#status.view.getInt32(0, true));
    return pid === -Errno.ECHILD ? "childless" : "none";
  }
}

function decodeStatus(pid: number, status: number): WaitReport {
  const low = status & 0x7f;
  if (low === 0x7f) {
    return { pid, kind: "stopped", signal: (status >> 8) & 0xff, event: status >> 16 };
  }
  if (low === 0) return { pid, kind: "exited", code: (status >> 8) & 0xff };
  return { pid, kind: "signaled", signal: low };
}
