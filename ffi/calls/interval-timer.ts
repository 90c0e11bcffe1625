import { Itimerspec, Timespec } from "../abi/file.ts";
import {
  CLOCK_MONOTONIC,
  KernelSigaction,
  SA_RESTART,
  SIGEV_THREAD_ID,
  Sigevent,
  Signal,
} from "../abi/process.ts";
import { idleHandlerAddress, KernelBuffer, sys } from "./libc.ts";

/**
 * Interrupts, now and then, whatever system call the thread that made it waits in. The signal does
 * nothing by itself; that it came is enough to end a wait.
 */
export class IntervalTimer {
  readonly #time = new KernelBuffer(Itimerspec.size);
  readonly #id: number;

  /** Null where the kernel gives no timer. */
  static ofThisThread(): IntervalTimer | null {
    if (!handleIdly(Signal.STKFLT)) return null;
    const event = new KernelBuffer(Sigevent.size);
    event.view.setInt32(Sigevent.at.signo, Signal.STKFLT, true);
    event.view.setInt32(Sigevent.at.notify, SIGEV_THREAD_ID, true);
    event.view.setInt32(Sigevent.at.threadId, sys("gettid"), true);
    const id = new KernelBuffer(4);
    const made = sys("timer_create", CLOCK_MONOTONIC, event.address, id.address);
    return made < 0 ? null : new IntervalTimer(id.view.getInt32(0, true));
  }

  private constructor(id: number) {
    this.#id = id;
  }

  start(everyMs: number): void {
    const nanoseconds = everyMs * 1_000_000;
    this.#time.setU64(Itimerspec.at.interval + Timespec.at.nanoseconds, nanoseconds);
    this.#time.setU64(Itimerspec.at.value + Timespec.at.nanoseconds, nanoseconds);
    sys("timer_settime", this.#id, 0, this.#time.address);
  }

  stop(): void {
    this.#time.bytes.fill(0);
    sys("timer_settime", this.#id, 0, this.#time.address);
  }
}

/** Without SA_RESTART, or the wait would go on. */
function handleIdly(signal: number): boolean {
  const action = new KernelBuffer(KernelSigaction.size);
  const { at } = KernelSigaction;
  // A handler needs a way back that only the C library knows: it is taken from one it made.
  const asked = sys("rt_sigaction", Signal.CHLD, 0, action.address, 8);
  if (asked < 0 || action.u64(at.handler) <= 1) return false;
  action.setU64(at.handler, idleHandlerAddress());
  action.view.setUint32(at.flags, action.view.getUint32(at.flags, true) & ~SA_RESTART, true);
  return sys("rt_sigaction", signal, action.address, 0, 8) === 0;
}
