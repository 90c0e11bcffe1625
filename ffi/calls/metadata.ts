import type { Fd } from "../abi/brand.ts";
import { AT_EMPTY_PATH, AT_FDCWD } from "../abi/file.ts";
import { KernelBuffer, sys } from "./libc.ts";

const NAME_BYTES_MAX = 256;

/**
 * Changes to a file that is held by an O_PATH descriptor: whatever its path leads to by now, this
 * file is meant. Results are zero or a negated errno.
 */
export class MetadataCalls {
  readonly #path = new KernelBuffer(64);
  readonly #name = new KernelBuffer(NAME_BYTES_MAX);
  readonly #empty = new KernelBuffer(1);

  /** Not for symbolic links: /proc leads through them. */
  chmod(file: Fd | number, mode: number): number {
    return sys("fchmodat", AT_FDCWD, this.#magicLink(file), mode);
  }

  chown(file: Fd | number, uid: number, gid: number): number {
    return sys("fchownat", file, this.#empty.address, uid, gid, AT_EMPTY_PATH);
  }

  /** Two timespecs; null is now. */
  setTimes(file: Fd | number, times: KernelBuffer | null): number {
    return sys("utimensat", file, this.#empty.address, times?.address ?? 0, AT_EMPTY_PATH);
  }

  setAttribute(file: Fd | number, name: string, value: Uint8Array, flags: number): number {
    const data = KernelBuffer.of(value);
    const link = this.#magicLink(file);
    return sys("setxattr", link, this.#name.cstring(name), data.address, value.length, flags);
  }

  removeAttribute(file: Fd | number, name: string): number {
    return sys("removexattr", this.#magicLink(file), this.#name.cstring(name));
  }

  #magicLink(file: Fd | number): number {
    return this.#path.cstring(`/proc/self/fd/${file}`);
  }
}
