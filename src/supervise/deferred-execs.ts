export interface DeferredExecsParts<Call> {
  /** Whether another thread of the caller's process has an exec under way. */
  readonly mustWait: (call: Call) => boolean;
  readonly isAlive: (id: bigint) => boolean;
  readonly judge: (id: bigint, call: Call) => void;
}

/**
 * Execs that wait for one of another thread of their process. To attach to a caller would wait for
 * a lock that the other exec holds; and that waits for the other threads to be gone, which for
 * those that we are attached to takes us.
 */
export class DeferredExecs<Call> {
  readonly #parts: DeferredExecsParts<Call>;
  #waiting: { readonly id: bigint; readonly call: Call }[] = [];

  constructor(parts: DeferredExecsParts<Call>) {
    this.#parts = parts;
  }

  admit(id: bigint, call: Call): void {
    if (this.#parts.mustWait(call)) this.#waiting.push({ id, call });
    else this.#parts.judge(id, call);
  }

  /** To be called when an exec has come to its end. */
  resume(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    // The first that goes on may be what the next has to wait for again.
    for (const { id, call } of waiting) if (this.#parts.isAlive(id)) this.admit(id, call);
  }
}
