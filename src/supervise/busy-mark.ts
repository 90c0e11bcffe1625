/** Words of the shared memory: a counter that is odd while a call is being judged, etc. */
const TURN = 0;
const LISTENER = 1;
const TID = 4;
/** A position in words of eight bytes. */
const ID = 1;

export interface BusyTurn {
  readonly turn: number;
  readonly id: bigint;
  readonly tid: number;
  readonly listener: number;
}

/**
 * Tells the main thread that a verdict is under way, without a message: the watchdog looks now and
 * then, and steps in when it finds the same turn twice.
 */
export class BusyMark {
  readonly #words: Int32Array;
  readonly #ids: BigInt64Array;

  static readonly BYTES = 24;

  constructor(shared: SharedArrayBuffer) {
    this.#words = new Int32Array(shared);
    this.#ids = new BigInt64Array(shared);
  }

  publishListener(fd: number): void {
    Atomics.store(this.#words, LISTENER, fd);
  }

  begin(id: bigint, tid: number): void {
    Atomics.store(this.#ids, ID, id);
    Atomics.store(this.#words, TID, tid);
    Atomics.add(this.#words, TURN, 1);
  }

  end(): void {
    Atomics.add(this.#words, TURN, 1);
  }

  /** The turn under way, or null. */
  current(): BusyTurn | null {
    const turn = Atomics.load(this.#words, TURN);
    if (turn % 2 === 0) return null;
    const id = BigInt.asUintN(64, Atomics.load(this.#ids, ID));
    const listener = Atomics.load(this.#words, LISTENER);
    return { turn, id, tid: Atomics.load(this.#words, TID), listener };
  }
}
