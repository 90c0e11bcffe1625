import { Signal } from "../../ffi/abi/process.ts";
import { SYSCALL_STOP_SIGNAL } from "../../ffi/abi/ptrace.ts";
import { kill } from "../../ffi/calls/process.ts";
import type { Tracer, WaitReport } from "../../ffi/calls/tracer.ts";
import type { PendingExec } from "./exec-verifier.ts";
import type { MappedFile, MappedFiles } from "./mapped-files.ts";

/** A loader maps its program within its first dozen calls. */
const STOPS_MAX = 500;

/** Asked once a loader has mapped a file: may this program run? */
export type JudgeLoaded = (pending: PendingExec, pid: number, program: MappedFile) => boolean;

/**
 * Follows a dynamic loader that was started by hand, call by call, until it has mapped its program.
 * The loader opens the path by itself, long after it was judged, and the path may lead elsewhere
 * by then; what is mapped can no longer change.
 */
export class LoaderWatch {
  readonly #tracer: Tracer;
  readonly #mapped: MappedFiles;
  readonly #judge: JudgeLoaded;
  readonly #watched = new Map<number, { readonly pending: PendingExec; stops: number }>();

  constructor(tracer: Tracer, mapped: MappedFiles, judge: JudgeLoaded) {
    this.#tracer = tracer;
    this.#mapped = mapped;
    this.#judge = judge;
  }

  get isWatching(): boolean {
    return this.#watched.size > 0;
  }

  /** Takes over a tracee that is stopped at its exec. */
  start(pid: number, pending: PendingExec): void {
    this.#watched.set(pid, { pending, stops: 0 });
    this.#tracer.runToCall(pid);
  }

  /** Takes a report of a watched process; false if it is none. */
  handle(report: WaitReport): boolean {
    const watch = this.#watched.get(report.pid);
    if (watch === undefined) return false;
    if (report.kind !== "stopped") {
      this.#watched.delete(report.pid);
      return false;
    }
    if (report.signal !== SYSCALL_STOP_SIGNAL) {
      this.#tracer.runToCall(report.pid, report.event === 0 ? report.signal : 0);
      return true;
    }
    const mapped = this.#mapped.of(report.pid);
    if (mapped !== null && mapped.length === 0 && ++watch.stops < STOPS_MAX) {
      this.#tracer.runToCall(report.pid);
      return true;
    }
    this.#watched.delete(report.pid);
    const [program] = mapped ?? [];
    const proceeds = program !== undefined && this.#judge(watch.pending, report.pid, program);
    if (!proceeds) kill(report.pid, Signal.KILL);
    this.#tracer.detach(report.pid);
    return true;
  }
}
