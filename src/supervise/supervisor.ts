import type { Fd } from "../../ffi/abi/brand.ts";
import { Errno } from "../../ffi/abi/errno.ts";
import { POLLHUP, POLLIN } from "../../ffi/abi/file.ts";
import { Signal } from "../../ffi/abi/process.ts";
import { FileCalls } from "../../ffi/calls/file.ts";
import { KernelBuffer } from "../../ffi/calls/libc.ts";
import type { Listener } from "../../ffi/calls/notify.ts";
import { Poll } from "../../ffi/calls/poll.ts";
import { kill } from "../../ffi/calls/process.ts";
import type { Tracer, WaitReport } from "../../ffi/calls/tracer.ts";
import { descendants, isStopped, type Leftover, signalAll } from "./leftovers.ts";
import type { StopWait } from "./stop-wait.ts";

/** How the command ended, and how its run did. */
export interface Ending {
  /** The command's exit code, or 128 + signal. */
  readonly exit: number;
  readonly signal: number | null;
  readonly leftovers: readonly Leftover[];
  readonly leftoversHandled: "none" | "ended" | "waited";
}

/** Connects that are under way for their callers. */
export interface LateConnects {
  readonly sockets: readonly number[];
  readonly timeoutMs: number;
  readonly turn: () => void;
}

export interface SupervisorOptions {
  readonly listener: Listener;
  readonly tracer: Tracer;
  readonly stops: StopWait;
  readonly commandPid: number;
  /** An eventfd that every SIGCHLD writes to. */
  readonly childEventsFd: Fd;
  readonly waitAll: boolean;
  /** Answers the notification that the listener holds. */
  readonly answer: () => void;
  readonly isVerifying: () => boolean;
  /** Whether the one thing to wait for is an exec that is about to happen. */
  readonly isStarting: () => boolean;
  /** It did not happen at once: it is to be asked after like the others. */
  readonly startIsLate: () => void;
  /** Whether tracees are followed whose stops have to be heard of. */
  readonly needsStops: () => boolean;
  /** Asks after execs that were let go before `beforeMs` and have not been heard of. */
  readonly askAfterExecs: (beforeMs: number) => void;
  /** Whether this very process, in whatever thread, is the tracer. */
  readonly isTracedByUs: (pid: number) => boolean;
  /** Takes a wait report of a tracee; false if it is not one. */
  readonly handleTracee: (report: WaitReport) => boolean;
  readonly connects: LateConnects;
  readonly nowMs: () => number;
  /** Told once, when the command is gone but some of its processes are not. */
  readonly announce: (leftovers: readonly Leftover[]) => void;
  /** True once the run must end whatever the command does. */
  readonly mustEnd: () => boolean;
  /** Gives back memory that is no longer used. */
  readonly collectGarbage: () => void;
}

/** Positions in the poll set. */
const CHILD_EVENTS = 0;
const LISTENER = 1;
/** A stop that outlives this was not for our whole process group: then we stop as well. */
const STOP_SETTLES_MS = 20;
/** Execs take a fraction of this, unless they failed. */
const EXEC_PATIENCE_MS = 10;
const SETTLE_MS = 50;
const ANSWERS_BETWEEN_COLLECTIONS = 10_000;
const GRACE_MS = 2000;
const KILL_ROUND_MS = 10;
const KILL_ROUNDS_MAX = 1000;

/** The loop that answers notifications and follows the life of the command and what it starts. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #files = new FileCalls();
  readonly #poll = new Poll(2);
  readonly #eventCount = new KernelBuffer(8);
  #status: { exit: number; signal: number | null } | null = null;
  #childless = false;
  #isDeserted = false;
  #answered = 0;
  #stoppedAtMs: number | null = null;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#poll.watch(this.#inputs());
  }

  run(): Ending {
    while (this.#status === null) {
      this.#turn(this.#runningTimeoutMs());
      if (this.#status === null && this.#options.mustEnd()) this.#killEverything();
    }
    const status = this.#status;
    // A pipeline's last members may be on their way out.
    this.#turnUntilChildless(SETTLE_MS);
    if (this.#childless) {
      return { ...status, leftovers: [], leftoversHandled: "none" };
    }
    const leftovers = descendants(process.pid);
    if (leftovers.length > 0) this.#options.announce(leftovers);
    if (this.#options.waitAll) {
      while (!this.#childless) this.#turn(this.#runningTimeoutMs());
      return { ...status, leftovers, leftoversHandled: leftovers.length > 0 ? "waited" : "none" };
    }
    this.#endLeftovers();
    return { ...status, leftovers, leftoversHandled: leftovers.length > 0 ? "ended" : "none" };
  }

  #runningTimeoutMs(): number {
    if (this.#options.isVerifying()) return EXEC_PATIENCE_MS;
    return this.#stoppedAtMs === null ? -1 : STOP_SETTLES_MS;
  }

  #inputs(): readonly Fd[] {
    const { childEventsFd, listener } = this.#options;
    return this.#isDeserted ? [childEventsFd] : [childEventsFd, listener.fd];
  }

  /** Waits for events; meanwhile connects may come to their end. */
  #wait(timeoutMs: number): number {
    const { connects } = this.#options;
    const lateMs = connects.timeoutMs;
    if (lateMs < 0) return this.#poll.wait(timeoutMs);
    this.#poll.watch(this.#inputs(), connects.sockets);
    const ready = this.#poll.wait(timeoutMs < 0 ? lateMs : Math.min(timeoutMs, lateMs));
    connects.turn();
    this.#poll.watch(this.#inputs());
    return ready;
  }

  /** Waits for something to do, at most so long, and does it. */
  #turn(timeoutMs: number): void {
    const { stops } = this.#options;
    if (this.#options.isStarting() && stops.isApt) {
      this.#awaitStart();
      return;
    }
    if (stops.isMuted && this.#options.needsStops()) {
      stops.end();
      this.#reap();
    }
    const ready = this.#wait(timeoutMs);
    if (ready < 0) stops.tick();
    // Interrupted: that was the handler which makes the descriptor readable.
    if (ready < 0 || this.#poll.events(CHILD_EVENTS) !== 0) {
      // Emptied before the look, so that an event during it makes for another look.
      this.#files.read(this.#options.childEventsFd, this.#eventCount);
      this.#reap();
    }
    if (ready > 0) this.#serve();
    if (ready === 0 && this.#options.isVerifying()) {
      this.#options.askAfterExecs(this.#options.nowMs() - EXEC_PATIENCE_MS);
    }
    this.#followStop();
  }

  /** Nothing else is served meanwhile, so it may take a few milliseconds at most. */
  #awaitStart(): void {
    const report = this.#options.stops.next();
    if (report === "none") this.#options.startIsLate();
    else this.#take(report);
  }

  #serve(): void {
    const events = this.#poll.events(LISTENER);
    if ((events & POLLIN) !== 0) {
      const received = this.#options.listener.receive();
      if (received === 0) {
        this.#options.stops.answered();
        this.#options.answer();
        this.#tidy();
      }
      // ENOENT: the caller died before we looked. Anything else is ours to know about.
      else if (received !== -Errno.ENOENT && received !== -Errno.EINTR) {
        throw new Error(`receiving a notification failed: errno ${-received}`);
      }
      return;
    }
    if ((events & POLLHUP) !== 0) {
      // No process with the filter is left, only zombies on their way.
      this.#isDeserted = true;
      this.#poll.watch(this.#inputs());
    }
  }

  /**
   * This loop never returns to the runtime, which would look for old garbage only then: some 80
   * bytes an exec would be kept for ever.
   */
  #tidy(): void {
    this.#answered++;
    if (this.#answered % ANSWERS_BETWEEN_COLLECTIONS === 0) this.#options.collectGarbage();
  }

  #reap(): void {
    for (;;) {
      const report = this.#options.tracer.next();
      if (report === "none") return;
      this.#take(report);
      if (report === "childless") return;
    }
  }

  #take(report: WaitReport | "childless"): void {
    if (report === "childless") {
      this.#childless = true;
      return;
    }
    if (this.#options.handleTracee(report)) return;
    if (this.#endSelfTraced(report)) return;
    if (report.pid === this.#options.commandPid) this.#commandReport(report);
  }

  /**
   * A child of ours that asked to be traced by its parent stops at every signal, for us to deal
   * with: but its tracer is the main thread, which does not. It would never end.
   */
  #endSelfTraced(report: WaitReport): boolean {
    if (report.kind !== "stopped" || !this.#options.isTracedByUs(report.pid)) return false;
    kill(report.pid, Signal.KILL);
    return true;
  }

  #commandReport(report: WaitReport): void {
    switch (report.kind) {
      case "exited":
        this.#status = { exit: report.code, signal: null };
        break;
      case "signaled":
        this.#status = { exit: 128 + report.signal, signal: report.signal };
        break;
      case "stopped":
        this.#stoppedAtMs = this.#options.nowMs();
        break;
      default:
        report satisfies never;
    }
  }

  /** A command that stopped alone (not with our process group by the terminal) takes us along. */
  #followStop(): void {
    if (this.#stoppedAtMs === null) return;
    if (this.#options.nowMs() - this.#stoppedAtMs < STOP_SETTLES_MS) return;
    this.#stoppedAtMs = null;
    if (isStopped(this.#options.commandPid)) kill(process.pid, Signal.STOP);
  }

  #endLeftovers(): void {
    signalAll(descendants(process.pid), Signal.TERM);
    this.#turnUntilChildless(GRACE_MS);
    this.#killEverything();
  }

  #turnUntilChildless(patienceMs: number): void {
    const until = this.#options.nowMs() + patienceMs;
    this.#reap();
    while (!this.#childless) {
      const left = until - this.#options.nowMs();
      if (left <= 0) return;
      this.#turn(left);
    }
  }

  /** Processes may still fork while they are being killed, so it takes rounds. */
  #killEverything(): void {
    for (let round = 0; round < KILL_ROUNDS_MAX && !this.#childless; round++) {
      signalAll(descendants(process.pid), Signal.KILL);
      this.#turn(KILL_ROUND_MS);
    }
  }
}
