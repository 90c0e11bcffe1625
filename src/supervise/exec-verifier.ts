import { Signal } from "../../ffi/abi/process.ts";
import { PTRACE_EVENT_EXEC } from "../../ffi/abi/ptrace.ts";
import { kill } from "../../ffi/calls/process.ts";
import type { Tracer, WaitReport } from "../../ffi/calls/tracer.ts";
import type { CallerReader } from "./caller.ts";
import type { ExecFacts, Judgement } from "./exec-judge.ts";
import { LoaderWatch } from "./loader-watch.ts";
import type { MappedFile, MappedFiles } from "./mapped-files.ts";
import type { ProgramFinder } from "./program-file.ts";
import type { StartedProgram, StartedPrograms } from "./started-program.ts";

const STOP_SIGNALS: ReadonlySet<number> = new Set([
  Signal.STOP,
  Signal.TSTP,
  Signal.TTIN,
  Signal.TTOU,
]);

/** An exec that was allowed and has not been seen to happen yet. */
export interface PendingExec {
  readonly facts: ExecFacts;
  readonly judgement: Judgement;
}

interface FollowedExec extends PendingExec {
  readonly sinceMs: number;
  isLate?: boolean;
  isAsked?: boolean;
}

export interface VerifierEvents {
  /** Started as judged; the process waits until this returns. */
  confirmed(pending: PendingExec, pid: number): void;
  /** Something else started (or it cannot be told what: null). True lets it go on. */
  mismatched(pending: PendingExec, pid: number, started: StartedProgram | null): boolean;
  /** A loader that was started by hand has mapped its program. True lets it go on. */
  loaded(pending: PendingExec, pid: number, file: MappedFile): boolean;
}

/**
 * Watches allowed execs through to their first instruction. Nobody but the kernel has touched the
 * new address space by then, so what is found there is the truth.
 */
export class ExecVerifier {
  readonly #tracer: Tracer;
  readonly #callers: CallerReader;
  readonly #finder: ProgramFinder;
  readonly #events: VerifierEvents;
  readonly #nowMs: () => number;
  readonly #pending = new Map<number, FollowedExec>();
  readonly #started: StartedPrograms;
  readonly #loaders: LoaderWatch;
  /** The exec that was let go last, as long as it is awaited. */
  #latest: FollowedExec | null = null;
  #hasAbandoned = false;

  constructor(options: {
    readonly tracer: Tracer;
    readonly callers: CallerReader;
    readonly finder: ProgramFinder;
    readonly events: VerifierEvents;
    readonly nowMs: () => number;
    readonly started: StartedPrograms;
    readonly mapped: MappedFiles;
  }) {
    this.#tracer = options.tracer;
    this.#callers = options.callers;
    this.#finder = options.finder;
    this.#events = options.events;
    this.#nowMs = options.nowMs;
    this.#started = options.started;
    this.#loaders = new LoaderWatch(options.tracer, options.mapped, (pending, pid, file) =>
      options.events.loaded(pending, pid, file),
    );
  }

  get isWaiting(): boolean {
    return this.#pending.size > 0;
  }

  /** Whether there is just one to wait for, and nothing speaks against its success. */
  get isStarting(): boolean {
    if (this.#pending.size !== 1 || this.#latest === null) return false;
    return this.#latest.judgement.willStart && this.#latest.isLate !== true;
  }

  startIsLate(): void {
    if (this.#latest !== null) this.#latest.isLate = true;
  }

  /** Whether there are tracees whose stops matter. */
  get needsStops(): boolean {
    return this.#pending.size > 0 || this.#loaders.isWatching;
  }

  /** Whether another thread of the process has an exec under way. */
  hasSibling(tid: number, tgid: number): boolean {
    for (const [other, { facts }] of this.#pending) {
      if (facts.view.tgid === tgid && other !== tid) return true;
    }
    return false;
  }

  /** Attaches to a caller that is parked in its exec. */
  attach(tid: number): number {
    // Still attached: its last exec failed, and this is the next one.
    if (this.#pending.has(tid)) {
      this.#forget(tid);
      return 0;
    }
    return this.#tracer.seize(tid);
  }

  /** To be called when the exec was let go: from here on its outcome is awaited. */
  follow(tid: number, pending: PendingExec): void {
    const { facts, judgement } = pending;
    this.#latest = { facts, judgement, sinceMs: this.#nowMs() };
    this.#pending.set(tid, this.#latest);
  }

  /**
   * An exec that succeeds is reported at once. One that fails is not: its caller runs on, attached.
   * It is made to stop, so that it can be let go. (To do that for every exec would cost a third of
   * the whole, and a file system that heeds signals might make the exec fail.)
   */
  askAfter(beforeMs: number): void {
    for (const [tid, pending] of this.#pending) {
      if (pending.sinceMs > beforeMs) return;
      if (!pending.isAsked) this.#tracer.interrupt(tid);
      pending.isAsked = true;
    }
  }

  /** Attached, but the exec will not go on after all. */
  abandon(tid: number): void {
    this.#hasAbandoned = true;
    this.#tracer.interrupt(tid);
  }

  /** Takes a report that concerns a tracee; false if it is none of ours. */
  handle(report: WaitReport): boolean {
    if (this.#loaders.handle(report)) return true;
    if (report.kind !== "stopped") {
      this.#forget(report.pid);
      return false;
    }
    if (report.event === PTRACE_EVENT_EXEC) {
      const former = this.#formerTid(report.pid);
      const pending = this.#take(former);
      // A leader that had an exec of its own under way was replaced by this thread.
      if (former !== report.pid) this.#forget(report.pid);
      this.#verify(report.pid, pending);
      return true;
    }
    const known = this.#pending.has(report.pid);
    // Any other stop is on the way back to user space: the exec failed.
    // The tracer's own stops carry an event; without one it is a signal of the program's.
    const isSignal = report.event === 0;
    const signal = isSignal && !this.#isOutdated(report) ? report.signal : 0;
    const detached = this.#tracer.detach(report.pid, signal);
    this.#forget(report.pid);
    return known || detached === 0;
  }

  /**
   * A stop that was overtaken. We may have been stopped ourselves, by the same Ctrl-Z; when `fg`
   * continues us both, the tracee's own stop is still to be delivered, and nobody would continue
   * it again.
   */
  #isOutdated({ pid, signal }: { readonly pid: number; readonly signal: number }): boolean {
    return STOP_SIGNALS.has(signal) && this.#callers.hasPending(pid, Signal.CONT);
  }

  /** The kernel need not be asked if this process is the only one that can be meant. */
  #formerTid(pid: number): number {
    const isOnly = this.#pending.size === 1 && this.#pending.has(pid) && !this.#hasAbandoned;
    return isOnly ? pid : this.#tracer.formerTid(pid);
  }

  #verify(pid: number, pending: PendingExec | null): void {
    if (pending === null) {
      // Abandoned: its own call was not let go on, so this is none of the agent's.
      this.#tracer.detach(pid);
      return;
    }
    const proceed = this.#started.isAsJudged(pid, pending)
      ? this.#confirm(pending, pid)
      : this.#events.mismatched(pending, pid, this.#started.look(pid, pending));
    // All that can be done before the program goes on: afterwards it would wait for us to be done.
    this.#finder.release(pending.facts.file);
    if (proceed && pending.judgement.isLoading) {
      this.#loaders.start(pid, pending);
      return;
    }
    if (!proceed) kill(pid, Signal.KILL);
    this.#tracer.detach(pid);
  }

  #confirm(pending: PendingExec, pid: number): true {
    this.#events.confirmed(pending, pid);
    return true;
  }

  #take(tid: number): PendingExec | null {
    const pending = this.#pending.get(tid) ?? null;
    this.#pending.delete(tid);
    if (pending === this.#latest) this.#latest = null;
    return pending;
  }

  #forget(tid: number): void {
    const pending = this.#take(tid);
    if (pending !== null) this.#finder.release(pending.facts.file);
  }
}
