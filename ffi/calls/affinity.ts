import { KernelBuffer, sys } from "./libc.ts";

/** Room for 8,192 processors, the most that Linux can be built for. */
const MASK_BYTES = 1024;

/** A set of processors, in the form the kernel takes. */
export class ProcessorSet {
  readonly #mask = new KernelBuffer(MASK_BYTES);
  #bytes = 0;
  /** The one processor of a set that was made of one. */
  #single = 0;

  /** Becomes the set that a thread may run on; 0 is ourselves. False if the thread is gone. */
  readFrom(tid: number): boolean {
    this.#bytes = sys("sched_getaffinity", tid, MASK_BYTES, this.#mask.address);
    return this.#bytes > 0;
  }

  /** Lets a thread run on these alone. False if it is gone or not ours to hold. */
  applyTo(tid: number): boolean {
    return sys("sched_setaffinity", tid, this.#bytes, this.#mask.address) === 0;
  }

  /** Becomes the set of one processor. A set that was made so stays one of its kind. */
  becomeSingle(processor: number, like: ProcessorSet): void {
    this.#bytes = like.#bytes;
    this.#mask.bytes[this.#single >> 3] = 0;
    this.#mask.bytes[processor >> 3] = 1 << (processor & 7);
    this.#single = processor;
  }

  equals(other: ProcessorSet): boolean {
    const bytes = Math.max(this.#bytes, 0);
    return (
      this.#bytes === other.#bytes &&
      this.#mask.bytes.compare(other.#mask.bytes, 0, bytes, 0, bytes) === 0
    );
  }
}

/** Tells where the calling thread runs. */
export class CurrentProcessor {
  readonly #word = new KernelBuffer(4);

  number(): number {
    return sys("getcpu", this.#word.address) < 0 ? -1 : this.#word.view.getUint32(0, true);
  }
}
