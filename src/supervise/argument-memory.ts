import { Errno } from "../../ffi/abi/errno.ts";
import { KernelBuffer } from "../../ffi/calls/libc.ts";
import { RemoteMemory } from "../../ffi/calls/remote-memory.ts";

const PATH_BYTES_MAX = 4096;
const USUAL_BYTES = 256;
const DATA_BYTES_MAX = 65_536;

/** What the arguments of a file call point to in the memory of its caller: paths and small data. */
export class ArgumentMemory {
  readonly #memory = new RemoteMemory();
  readonly #buffer = new KernelBuffer(DATA_BYTES_MAX);

  /** A string that ends in a NUL, one character a byte; or the negated errno to answer with. */
  path(tid: number, address: number): string | number {
    if (address === 0) return -Errno.EFAULT;
    let length = 0;
    for (let ask = USUAL_BYTES; length < PATH_BYTES_MAX; ask = PATH_BYTES_MAX - length) {
      const got = this.#memory.read(tid, address + length, this.#buffer, ask, length);
      if (got <= 0) return got === -Errno.EPERM ? -Errno.EACCES : -Errno.EFAULT;
      const end = this.#buffer.bytes.indexOf(0, length);
      length += got;
      if (end >= 0 && end < length) return this.#buffer.bytes.toString("latin1", 0, end);
    }
    return -Errno.ENAMETOOLONG;
  }

  /** So many bytes, as a copy; null if they cannot all be read. */
  data(tid: number, address: number, length: number): Buffer | null {
    if (address === 0 || length > DATA_BYTES_MAX) return null;
    const got = length === 0 ? 0 : this.#memory.read(tid, address, this.#buffer, length);
    return got === length ? Buffer.from(this.#buffer.bytes.subarray(0, length)) : null;
  }
}
