import { Errno } from "../abi/errno.ts";
import { KernelBuffer, sys } from "./libc.ts";

const BYTES_PER_UTF16_UNIT_MAX = 3;

/** Writes text to a descriptor at once, through one buffer that is kept. */
export class LineWriter {
  readonly #fd: number;
  #buffer = new KernelBuffer(16 * 1024);

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** How many bytes were written of how many, and the errno that ended it if it is less. */
  write(text: string): { readonly done: number; readonly errno: number } {
    const room = text.length * BYTES_PER_UTF16_UNIT_MAX;
    if (room > this.#buffer.bytes.length) this.#buffer = new KernelBuffer(room);
    const length = this.#buffer.bytes.write(text, 0, "utf8");
    let done = 0;
    while (done < length) {
      const wrote = sys("write", this.#fd, this.#buffer.address + done, length - done);
      if (wrote === -Errno.EINTR) continue;
      if (wrote === -Errno.EAGAIN) {
        // Somebody else set the pipe or terminal to O_NONBLOCK, and it is full.
        Bun.sleepSync(1);
        continue;
      }
      if (wrote <= 0) return { done, errno: -wrote };
      done += wrote;
    }
    return { done, errno: 0 };
  }
}
