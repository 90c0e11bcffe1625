import { Errno } from "../abi/errno.ts";
import { Iovec } from "../abi/process.ts";
import {
  NT_PRSTATUS,
  PTRACE_DETACH,
  PTRACE_GETEVENTMSG,
  PTRACE_GETREGSET,
  PTRACE_INTERRUPT,
  PTRACE_O_EXITKILL,
  PTRACE_O_TRACEEXEC,
  PTRACE_O_TRACESYSGOOD,
  PTRACE_SEIZE,
  PTRACE_SYSCALL,
  REGISTERS_BYTES_MAX,
  STACK_POINTER_AT,
  WALL,
  WNOHANG,
  WUNTRACED,
} from "../abi/ptrace.ts";
import { ARCH, KernelBuffer, sys } from "./libc.ts";

const OPTIONS = PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD;

/** What wait4 reported; `event` is a PTRACE_EVENT_* or 0. */
export type WaitReport =
  | { readonly pid: number; readonly kind: "exited"; readonly code: number }
  | { readonly pid: number; readonly kind: "signaled"; readonly signal: number }
  | {
      readonly pid: number;
      readonly kind: "stopped";
      readonly signal: number;
      readonly event: number;
    };

/**
 * ptrace and wait. The kernel knows a tracer by its thread, so one object serves one thread, and
 * that thread alone.
 */
export class Tracer {
  readonly #word = new KernelBuffer(8);
  readonly #status = new KernelBuffer(4);
  readonly #iov = new KernelBuffer(Iovec.size);
  readonly #registers = new KernelBuffer(REGISTERS_BYTES_MAX);

  /** Attaches without stopping; an exec will be reported, and our death kills the tracee. */
  seize(tid: number): number {
    return sys("ptrace", PTRACE_SEIZE, tid, 0, OPTIONS);
  }

  interrupt(tid: number): number {
    return sys("ptrace", PTRACE_INTERRUPT, tid, 0, 0);
  }

  /** Lets a stopped tracee run to its next system call, or to the end of the one it is in. */
  runToCall(tid: number, signal = 0): number {
    return sys("ptrace", PTRACE_SYSCALL, tid, 0, signal);
  }

  detach(tid: number, signal = 0): number {
    return sys("ptrace", PTRACE_DETACH, tid, 0, signal);
  }

  /** At an exec stop: the id the thread had before it became its process's leader. */
  formerTid(tid: number): number {
    if (sys("ptrace", PTRACE_GETEVENTMSG, tid, 0, this.#word.address) < 0) return tid;
    return this.#word.u64(0);
  }

  /** At an exec stop: where the new stack starts, with argc on top; null if it cannot be told. */
  stackPointer(tid: number): number | null {
    this.#iov.setU64(Iovec.at.base, this.#registers.address);
    this.#iov.setU64(Iovec.at.length, REGISTERS_BYTES_MAX);
    const got = sys("ptrace", PTRACE_GETREGSET, tid, NT_PRSTATUS, this.#iov.address);
    // A shorter set is that of a 32-bit program.
    const isNative = got === 0 && this.#iov.u64(Iovec.at.length) > STACK_POINTER_AT[ARCH];
    return isNative ? this.#registers.u64(STACK_POINTER_AT[ARCH]) : null;
  }

  /** The next report of any child or tracee, without waiting: `none` yet, or no `children`. */
  next(): WaitReport | "none" | "childless" {
    return this.#wait(WNOHANG);
  }

  /** The same, but waits for one. `none`: a signal came instead. */
  awaitNext(): WaitReport | "none" | "childless" {
    return this.#wait(0);
  }

  #wait(flags: number): WaitReport | "none" | "childless" {
    const pid = sys("wait4", -1, this.#status.address, flags | WUNTRACED | WALL, 0);
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
