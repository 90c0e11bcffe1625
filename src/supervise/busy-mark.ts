/** Words of the shared memory: a counter that is odd while a call is being judged, the listener. */
const TURN = 0;
const LISTENER = 1;
const ID = 1;

/**
 * Tells the main thread that a verdict is under way, without a message: the watchdog looks now and
 * then, and steps in when it finds the same turn twice.
 */
export class BusyMark {
  readonly #words: Int32Array;
  readonly #ids: BigInt64Array;

  static readonly BYTES = 16;

  constructor(shared: SharedArrayBuffer) {
    this.#words = new Int32Array(shared);
    this.#ids = new BigInt64Array(shared);
  }

  publishListener(fd: number): void {
    Atomics.store(this.#words, LISTENER, fd);
  }

  begin(id: bigint): void {
    Atomics.store(this.#ids, ID, id);
    Atomics.add(this.#words, TURN, 1);
  }

  end(): void {
    Atomics.add(this.#words, TURN, 1);
  }

  /** The turn under way, or null. */
  current(): { readonly turn: number; readonly id: bigint; readonly listener: number } | null {
    const turn = Atomics.load(this.#words, TURN);
    if (turn % 2 === 0) return null;
    const id = BigInt.asUintN(64, Atomics.load(this.#ids, ID));
    return { turn, id, listener: Atomics.load(this.#words, LISTENER) };
  }
}
