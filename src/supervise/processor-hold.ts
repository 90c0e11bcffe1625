import { AT_FDCWD } from "../../ffi/abi/file.ts";
import { CurrentProcessor, ProcessorSet } from "../../ffi/calls/affinity.ts";
import { listDirectory } from "../../ffi/calls/directory.ts";
import type { FileCalls } from "../../ffi/calls/file.ts";

/** Between two times that we go where our callers are, if they have moved. */
const TURNS_MAX = 32;
const OWN_THREADS = "/proc/self/task";

/**
 * Keeps us on one processor while programs are started one after the other. A caller and we take
 * turns, and the kernel likes to wake each of us where it is idle: on a processor that has to be
 * roused and has none of our memory at hand, which takes longer than all that is done in between.
 * If we do not move, neither do they, although nothing is ever asked of them.
 */
export class ProcessorHold {
  readonly #files: FileCalls;
  readonly #here = new CurrentProcessor();
  readonly #single = new ProcessorSet();
  readonly #own = new ProcessorSet();
  readonly #now = new ProcessorSet();
  #isHeld = false;
  #turns = 0;
  #threads = 0;

  constructor(files: FileCalls) {
    this.#files = files;
  }

  /** Stays where we are. If it cannot be done, nothing but time is lost. */
  begin(): void {
    if (this.#isHeld) return;
    const here = this.#here.number();
    // Asked anew each time: whoever runs us may have chosen other processors for us meanwhile.
    if (here < 0 || !this.#own.readFrom(0)) return;
    this.#threads = this.#countThreads();
    this.#single.becomeSingle(here, this.#own);
    this.#isHeld = this.#single.applyTo(0);
  }

  /** Now and then the next call may wake us where its caller is. */
  tick(): void {
    this.#turns++;
    if (this.#turns >= TURNS_MAX) this.end();
  }

  end(): void {
    this.#turns = 0;
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#free(0);
    if (this.#countThreads() !== this.#threads) this.#freeThreads();
  }

  #countThreads(): number {
    return this.#files.stat(AT_FDCWD, OWN_THREADS, 0)?.links ?? 0;
  }

  /** Those that the runtime has started in our name were given our one processor. */
  #freeThreads(): void {
    const threads = listDirectory(this.#files, OWN_THREADS);
    if (typeof threads === "number") return;
    for (const { name } of threads) this.#free(Number(name));
  }

  /** Unless somebody has chosen other processors meanwhile. */
  #free(tid: number): void {
    if (this.#now.readFrom(tid) && this.#now.equals(this.#single)) this.#own.applyTo(tid);
  }
}
