import { POLLIN, POLLOUT, PollFd, Timespec } from "../abi/file.ts";
import { KernelBuffer, sys } from "./libc.ts";

const NEVER_MS = -1;

/** Waits for input on a few descriptors, and room for output on others; signals end it too. */
export class Poll {
  #fds: KernelBuffer;
  readonly #time = new KernelBuffer(Timespec.size);
  #count = 0;

  constructor(countMax: number) {
    this.#fds = new KernelBuffer(PollFd.size * countMax);
  }

  /** Those for `outputs` come after those for input. */
  watch(inputs: readonly number[], outputs: readonly number[] = []): void {
    this.#count = inputs.length + outputs.length;
    const bytes = this.#count * PollFd.size;
    if (bytes > this.#fds.bytes.length) this.#fds = new KernelBuffer(bytes * 2);
    for (const [index, fd] of [...inputs, ...outputs].entries()) {
      const base = index * PollFd.size;
      const events = index < inputs.length ? POLLIN : POLLOUT;
      this.#fds.view.setInt32(base + PollFd.at.fd, fd, true);
      this.#fds.view.setUint16(base + PollFd.at.events, events, true);
    }
  }

  /** How many descriptors are ready, or a negated errno. */
  wait(timeoutMs: number = NEVER_MS): number {
    let time = 0;
    if (timeoutMs >= 0) {
      this.#time.setU64(Timespec.at.seconds, Math.floor(timeoutMs / 1000));
      this.#time.setU64(Timespec.at.nanoseconds, Math.floor((timeoutMs % 1000) * 1_000_000));
      time = this.#time.address;
    }
    return sys("ppoll", this.#fds.address, this.#count, time, 0, 8);
  }

  /** The events of the descriptor at this position in `watch`. */
  events(index: number): number {
    return this.#fds.view.getUint16(index * PollFd.size + PollFd.at.revents, true);
  }
}
