import type { IntervalTimer } from "../../ffi/calls/interval-timer.ts";
import type { StopSignals } from "../../ffi/calls/stop-signals.ts";
import type { Tracer, WaitReport } from "../../ffi/calls/tracer.ts";
import type { ProcessorHold } from "./processor-hold.ts";

export interface StopWaitParts {
  readonly tracer: Tracer;
  readonly signals: StopSignals;
  /** Null where there is none: then no wait could be ended, and none is begun. */
  readonly timer: IntervalTimer | null;
  readonly hold: ProcessorHold;
  /** Whether callers are woken where we are: only then do they stay with us. */
  readonly wakesHere: () => boolean;
  readonly nowMs: () => number;
}

/** The longest that a wait for one exec keeps everything else from being served. */
const WAIT_MS = 10;
/** A call that comes so soon after a wait was there before it ended. */
const CROWDED_MS = 0.05;
const CROWDED_TURNS = 64;

/**
 * Waits for an exec in wait4 itself. The signal for a stop wakes us on whatever processor is idle,
 * which costs more than all that is done with it; wait4 is woken where the program stopped. So
 * stops raise no signal while programs are being started one after the other.
 */
export class StopWait {
  readonly #parts: StopWaitParts;
  #turn = 0;
  #turnAtTick = 0;
  #crowdedUntil = 0;
  #endedMs = 0;

  constructor(parts: StopWaitParts) {
    this.#parts = parts;
  }

  /** False while several programs are being started at once: one would hold up the others. */
  get isApt(): boolean {
    return this.#parts.timer !== null && this.#turn >= this.#crowdedUntil;
  }

  get isMuted(): boolean {
    return this.#parts.signals.isMuted;
  }

  /** To be called for every call that is answered. */
  answered(): void {
    this.#turn++;
    if (this.#endedMs === 0) return;
    const isCrowded = this.#parts.nowMs() - this.#endedMs < CROWDED_MS;
    if (isCrowded) this.#beCrowded();
    this.#endedMs = 0;
  }

  #beCrowded(): void {
    this.#crowdedUntil = this.#turn + CROWDED_TURNS;
    this.#parts.hold.end();
  }

  /** `none` if it takes too long. */
  next(): WaitReport | "none" | "childless" {
    const { tracer, signals, timer, hold, wakesHere, nowMs } = this.#parts;
    if (!signals.isMuted) {
      signals.mute();
      timer?.start(WAIT_MS);
    }
    if (wakesHere()) hold.begin();
    const report = tracer.awaitNext();
    if (report === "none") hold.end();
    else hold.tick();
    this.#endedMs = nowMs();
    return report;
  }

  /** A poll was interrupted: maybe by the timer. With nothing to do, all is as it was before. */
  tick(): void {
    if (this.isMuted && this.#turn === this.#turnAtTick) this.end();
    this.#turnAtTick = this.#turn;
  }

  /** Stops raise their signal again. Those since then have to be looked for. */
  end(): void {
    this.#parts.timer?.stop();
    this.#parts.signals.unmute();
    this.#parts.hold.end();
  }
}
