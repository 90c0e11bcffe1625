import { CurrentProcessor, ProcessorSet } from "../../ffi/calls/affinity.ts";

/**
 * Keeps a caller and us on one processor while its program starts. The two take turns four times,
 * and the kernel likes to wake each where it is idle, on a processor that has to be roused and has
 * none of their memory at hand: that takes longer than all that is done in between.
 *
 * A program never gets to know: it is let go while it is stopped at its exec.
 */
export class ProcessorHold {
  readonly #here = new CurrentProcessor();
  readonly #single = new ProcessorSet();
  readonly #callers = new ProcessorSet();
  readonly #own = new ProcessorSet();
  readonly #found = new ProcessorSet();
  #tid = 0;

  /** One caller is held at a time. */
  get isFree(): boolean {
    return this.#tid === 0;
  }

  /** Where it cannot be done, nothing but time is lost. */
  begin(tid: number): void {
    const here = this.#here.number();
    if (here < 0 || !this.#callers.readFrom(tid) || !this.#callers.has(here)) return;
    this.#single.becomeSingle(here, this.#callers);
    if (!this.#own.readFrom(0) || !this.#single.applyTo(tid)) return;
    this.#tid = tid;
    this.#single.applyTo(0);
  }

  /** Lets the program go that the caller has become, stopped before its first instruction. */
  endStarted(tid: number, pid: number): void {
    if (this.#tid !== tid) return;
    this.#callers.applyTo(pid);
    this.#end();
  }

  /** Lets the caller go whose exec has failed, or been given up. */
  end(tid: number): void {
    if (this.#tid !== tid || tid === 0) return;
    this.#letGo(tid);
    this.#end();
  }

  /** The same for a child that inherited the hold. */
  endFor(child: number): void {
    if (this.#tid !== 0) this.#letGo(child);
  }

  #end(): void {
    this.#tid = 0;
    this.#own.applyTo(0);
  }

  /** Unless it has chosen its processors itself by now. */
  #letGo(tid: number): void {
    if (this.#found.readFrom(tid) && this.#found.equals(this.#single)) this.#callers.applyTo(tid);
  }
}
