import { CurrentProcessor, ProcessorSet } from "../../ffi/calls/affinity.ts";

/**
 * Keeps a caller and us on one processor while its program starts. The two take turns four times,
 * and the kernel likes to wake each where it is idle, on a processor that has to be roused and has
 * none of their memory at hand: that takes longer than all that is done in between.
 *
 * Programs never get to know. Whoever holds a caller makes sure that it stops before it runs any
 * code, whatever comes of its exec, and ends the hold there.
 */
export class ProcessorHold {
  readonly #here = new CurrentProcessor();
  readonly #single = new ProcessorSet();
  readonly #callers = new ProcessorSet();
  readonly #own = new ProcessorSet();
  #tid = 0;

  /** False where it cannot be done: nothing but time is lost. */
  begin(tid: number): boolean {
    const here = this.#here.number();
    if (here < 0 || !this.#callers.readFrom(tid) || !this.#callers.has(here)) return false;
    this.#single.becomeSingle(here, this.#callers);
    if (!this.#own.readFrom(0) || !this.#single.applyTo(tid)) return false;
    this.#tid = tid;
    this.#single.applyTo(0);
    return true;
  }

  /** Whether this is the caller that is held. */
  has(tid: number): boolean {
    return tid !== 0 && tid === this.#tid;
  }

  /** It takes its time: we go our own way meanwhile. */
  leave(): void {
    if (this.#tid !== 0) this.#own.applyTo(0);
  }

  /** Lets the caller go, which is `now` known by this id: an exec may have changed it. */
  end(tid: number, now = tid): void {
    if (!this.has(tid)) return;
    this.#tid = 0;
    this.#callers.applyTo(now);
    this.#own.applyTo(0);
  }
}
