import type { Fd } from "../../ffi/abi/brand.ts";
import { IntervalTimer } from "../../ffi/calls/interval-timer.ts";
import { Listener } from "../../ffi/calls/notify.ts";
import { SocketCalls } from "../../ffi/calls/socket-calls.ts";
import { StopSignals } from "../../ffi/calls/stop-signals.ts";
import { Tracer } from "../../ffi/calls/tracer.ts";
import { Journal, type JournalSink } from "../audit/journal.ts";
import { type HoleSurroundings, SurroundingsMap } from "../plan/hole-surroundings.ts";
import type { LandlockGrant } from "../plan/launch-plan.ts";
import type { NetworkPin } from "../plan/network-pin.ts";
import { ArgumentMemory } from "./argument-memory.ts";
import { BusyMark } from "./busy-mark.ts";
import { type CallNumbers, callNumbers } from "./call-numbers.ts";
import { CallerMemory } from "./caller-memory.ts";
import { ElfInterpreters } from "./elf-interpreters.ts";
import { ExecGate } from "./exec-gate.ts";
import type { ExecJudge } from "./exec-judge.ts";
import { type Denial, ExecLog } from "./exec-log.ts";
import { ExecVerifier } from "./exec-verifier.ts";
import { FileExplainer } from "./file-explainer.ts";
import { type ExplainedSeal, type FileDenial, FileLog } from "./file-log.ts";
import { HoleNeighbours } from "./hole-neighbours.ts";
import { leftoversLine } from "./leftovers.ts";
import { makeSocketGuard } from "./make-socket-guard.ts";
import { MappedFiles } from "./mapped-files.ts";
import { MetadataGuard } from "./metadata-guard.ts";
import { MismatchJudge } from "./mismatch-judge.ts";
import { answerPeerCall } from "./peer-guard.ts";
import { PendingConnects } from "./pending-connects.ts";
import { ProcessIdentities } from "./process-identities.ts";
import { ProcessorHold } from "./processor-hold.ts";
import type { ReadyPolicy } from "./ready-policy.ts";
import { type SocketDenial, SocketLog } from "./socket-log.ts";
import { StartedPrograms } from "./started-program.ts";
import { StopWait } from "./stop-wait.ts";
import { type Ending, Supervisor } from "./supervisor.ts";

/** What the main thread hands over; plain data, cloned into the Worker. */
export interface SessionConfig {
  readonly journalFd: number | null;
  readonly sessionId: string;
  /** Trace every verdict on stderr. */
  readonly trace: boolean;
  readonly verifies: boolean;
  readonly waitAll: boolean;
  /** Trees (one character a byte) that the agent may write; empty where files are not sealed. */
  readonly writableTrees: readonly string[];
  readonly isSealed: boolean;
  /** What is done beside holes in place of the kernel; null where there are none. */
  readonly neighbours: {
    readonly surroundings: HoleSurroundings;
    readonly granted: readonly LandlockGrant[];
  } | null;
  /** The seal whose denials are to be told; null if they are not. */
  readonly explain: ExplainedSeal | null;
  /** What sockets are judged by; null where none are. */
  readonly pin: NetworkPin | null;
  /** Shared with the watchdog in the main thread. */
  readonly busyMark: SharedArrayBuffer;
}

export interface SessionResult {
  readonly ending: Ending;
  readonly counts: { readonly [K in "allow" | "deny" | "error" | "mismatch"]: number };
  readonly denials: readonly Denial[];
  readonly fileDenials: readonly FileDenial[];
  readonly socketDenials: readonly SocketDenial[];
  readonly journalFailure: string | null;
}

export interface SessionEffects {
  readonly nowMs: () => number;
  readonly say: (line: string) => void;
  readonly journal: JournalSink;
  readonly collectGarbage: () => void;
}

export interface SessionStart {
  /** Waits for the command to be sealed; null if it cannot be. */
  readonly awaitListener: () => Fd | null;
  readonly commandPid: number;
  readonly childEventsFd: Fd;
  readonly go: () => void;
}

/** Answers the notification that the listener holds if it is one of its own. */
type CallHandler = { readonly handle: () => boolean };

/** Puts the parts together for one run, and runs it. */
export class Session {
  readonly #ready: ReadyPolicy;
  readonly #config: SessionConfig;
  readonly #effects: SessionEffects;
  readonly #journal: Journal;
  readonly #log: ExecLog;
  readonly #fileLog: FileLog;
  readonly #socketLog: SocketLog;
  readonly #surroundings: SurroundingsMap | null;
  readonly #judge: ExecJudge;
  readonly #tracer = new Tracer();
  readonly #listener = new Listener();
  readonly #stops: StopWait;
  readonly #identities: ProcessIdentities;
  readonly #numbers: CallNumbers = callNumbers();
  #journalBroken = false;
  #startedMs = 0;

  constructor(ready: ReadyPolicy, config: SessionConfig, effects: SessionEffects) {
    this.#ready = ready;
    this.#identities = new ProcessIdentities(ready.files, ready.callers);
    this.#config = config;
    this.#effects = effects;
    this.#journal = new Journal(config.journalFd === null ? null : effects.journal);
    const trace = config.trace ? (line: string) => effects.say(line) : null;
    this.#stops = new StopWait({
      tracer: this.#tracer,
      signals: new StopSignals(),
      timer: IntervalTimer.ofThisThread(),
      hold: new ProcessorHold(ready.files),
      wakesHere: () => this.#listener.wakesHere,
      nowMs: effects.nowMs,
    });
    const { neighbours } = config;
    this.#surroundings = neighbours === null ? null : new SurroundingsMap(neighbours.surroundings);
    const roots = neighbours?.surroundings.roots ?? [];
    // What is beside a hole may be the agent's own as well.
    this.#judge = ready.judge([...config.writableTrees, ...roots]);
    this.#log = new ExecLog(this.#journal, config.sessionId, trace);
    this.#fileLog = new FileLog(this.#journal, config.sessionId, {
      holes: config.explain?.holes ?? [],
      journalFailed: () => this.#journalFailed(),
    });
    this.#socketLog = new SocketLog(this.#journal, config.sessionId, () => this.#journalFailed());
  }

  /**
   * Serves the listener until the command and all that it left are gone. `go` lets it execute. Null
   * if there is no listener.
   */
  run({ awaitListener, commandPid, childEventsFd, go }: SessionStart): SessionResult | null {
    const { waitAll } = this.#config;
    const { files, callers, finder } = this.#ready;
    const listener = this.#listener;
    const { gate, verifier } = this.#execParts(listener);
    const sockets = new SocketCalls();
    const { nowMs } = this.#effects;
    const connects = new PendingConnects({ listener, sockets, callers, nowMs });
    const handlers = this.#fileCallHandlers(listener);
    const { pin } = this.#config;
    if (pin !== null) {
      const log = this.#socketLog;
      const parts = { listener, files, sockets, callers, pin, log };
      handlers.push(makeSocketGuard({ ...parts, finder, pending: connects, nowMs }));
    }
    const busy = new BusyMark(this.#config.busyMark);
    // Only now: the launcher seals itself while all of the above is made.
    const listenerFd = awaitListener();
    if (listenerFd === null) return null;
    listener.open(listenerFd);
    busy.publishListener(listenerFd);
    const supervisor = new Supervisor({
      listener,
      tracer: this.#tracer,
      stops: this.#stops,
      commandPid,
      childEventsFd,
      waitAll,
      answer: () => {
        this.#markStart();
        busy.begin(listener.id, listener.tid);
        this.#answer(listener, gate, handlers);
        busy.end();
      },
      isVerifying: () => verifier.isWaiting,
      isStarting: () => verifier.isStarting,
      startIsLate: () => verifier.startIsLate(),
      needsStops: () => verifier.needsStops,
      askAfterExecs: (beforeMs) => verifier.askAfter(beforeMs),
      isTracedByUs: (pid) => callers.isTracedByUs(pid),
      handleTracee: (report) => {
        const isTracee = verifier.handle(report);
        gate.resume();
        return isTracee;
      },
      connects,
      nowMs,
      announce: (leftovers) => this.#effects.say(leftoversLine(leftovers, waitAll)),
      mustEnd: () => this.#journalBroken,
      collectGarbage: this.#effects.collectGarbage,
    });
    go();
    const ending = supervisor.run();
    return {
      ending,
      counts: this.#log.counts,
      denials: this.#log.denials,
      fileDenials: this.#fileLog.denials,
      socketDenials: this.#socketLog.denials,
      journalFailure: this.#journalBroken ? this.#journal.failure : null,
    };
  }

  /** The exec gate and what it is made of. */
  #execParts(listener: Listener): { gate: ExecGate; verifier: ExecVerifier } {
    const { verifies } = this.#config;
    const { policy, compiled, files, callers, finder } = this.#ready;
    const judge = this.#judge;
    const expired = (): boolean =>
      this.#effects.nowMs() - this.#startedMs > policy.meta.onSupervisorTimeoutMs;
    const mismatch = new MismatchJudge({
      judge,
      finder,
      log: this.#log,
      identities: this.#identities,
      callers,
      remembers: compiled.usesParent,
      expired,
      journalFailed: () => this.#journalFailed(),
      starting: () => this.#markStart(),
    });
    const mapped = new MappedFiles(files);
    const interpreters = new ElfInterpreters(files, mapped, () => Date.now() / 1000);
    const tracer = this.#tracer;
    const verifier = new ExecVerifier({
      tracer,
      callers,
      finder,
      events: mismatch,
      nowMs: this.#effects.nowMs,
      started: new StartedPrograms({ tracer, files, callers, finder, interpreters }),
      mapped,
    });
    const gate = new ExecGate({
      listener,
      files,
      memory: new CallerMemory(),
      callers,
      finder,
      judge,
      verifier,
      identities: this.#identities,
      log: this.#log,
      usesParent: compiled.usesParent,
      verifies,
      expired,
      journalFailed: () => this.#journalFailed(),
    });
    return { gate, verifier };
  }

  #markStart(): void {
    this.#startedMs = this.#effects.nowMs();
  }

  #fileCallHandlers(listener: Listener): CallHandler[] {
    const { explain, isSealed, neighbours, writableTrees } = this.#config;
    const { files, callers, finder } = this.#ready;
    const parts = { listener, files, memory: new ArgumentMemory(), callers, finder };
    if (!isSealed) return [];
    const surroundings = this.#surroundings;
    const handlers: CallHandler[] = [new MetadataGuard({ ...parts, writableTrees, surroundings })];
    if (surroundings !== null && neighbours !== null) {
      const { granted } = neighbours;
      const isFollowed = explain !== null;
      handlers.push(new HoleNeighbours({ ...parts, surroundings, granted, isFollowed }));
    }
    if (explain === null) return handlers;
    const log = this.#fileLog;
    return [...handlers, new FileExplainer({ ...parts, log, seal: explain.landlock })];
  }

  #answer(listener: Listener, gate: ExecGate, handlers: readonly CallHandler[]): void {
    const number = listener.callNumber;
    if (number === this.#numbers.execve) gate.handle(false);
    else if (number === this.#numbers.execveat) gate.handle(true);
    else if (number === this.#numbers.prctl) this.#letAdopt(listener);
    else if (handlers.some((handler) => handler.handle())) return;
    else answerPeerCall(listener, this.#ready.callers, this.#numbers.pidArgument(number));
  }

  /** Its arguments are values, so the call may go on. */
  #letAdopt(listener: Listener): void {
    const status = this.#ready.callers.status(listener.tid);
    if (status !== null) this.#identities.noteReaper(status.tgid);
    listener.proceed(listener.id);
  }

  /** True if the policy lets execs go on without their record. */
  #journalFailed(): boolean {
    if (this.#ready.policy.audit.onError === "continue") return true;
    this.#journalBroken = true;
    return false;
  }
}
