import { Errno } from "../abi/errno.ts";
import { Iovec } from "../abi/process.ts";
import { KernelBuffer, sys } from "./libc.ts";

const PAGE_BYTES = 4096;
const PIECES_MAX = 3;

/** Reads the memory of other processes, without opening anything. */
export class RemoteMemory {
  readonly #local = new KernelBuffer(Iovec.size * 2);
  readonly #remote = new KernelBuffer(Iovec.size * PIECES_MAX);

  /** How many bytes could be read, up to the first that cannot; or a negated errno. */
  read(tid: number, address: number, into: KernelBuffer, length: number, at = 0): number {
    const whole = this.#transfer(tid, address, into, length, at);
    if (whole !== -Errno.EFAULT) return whole;
    // Nothing says that a read is cut short where the memory ends, so try what is left of the page.
    const toPageEnd = PAGE_BYTES - (address % PAGE_BYTES);
    return toPageEnd < length ? this.#transfer(tid, address, into, toPageEnd, at) : whole;
  }

  /**
   * As much as there is of `length` bytes: a page that cannot be read ends it. Two pages at most,
   * or three with parts of them.
   */
  readAcross(tid: number, address: number, into: KernelBuffer, length: number): number {
    const { at, size } = Iovec;
    this.#local.setU64(at.base, into.address);
    this.#local.setU64(at.length, length);
    let pieces = 0;
    for (let done = 0; done < length && pieces < PIECES_MAX; pieces++) {
      const from = address + done;
      const piece = Math.min(PAGE_BYTES - (from % PAGE_BYTES), length - done);
      this.#remote.setU64(pieces * size + at.base, from);
      this.#remote.setU64(pieces * size + at.length, piece);
      done += piece;
    }
    return sys("process_vm_readv", tid, this.#local.address, 1, this.#remote.address, pieces, 0);
  }

  /** Two pieces in one call; false unless both could be read whole. */
  readPair(
    tid: number,
    first: { readonly address: number; readonly into: KernelBuffer; readonly length: number },
    second: { readonly address: number; readonly into: KernelBuffer; readonly length: number },
  ): boolean {
    const { at, size } = Iovec;
    this.#local.setU64(at.base, first.into.address);
    this.#local.setU64(at.length, first.length);
    this.#remote.setU64(at.base, first.address);
    this.#remote.setU64(at.length, first.length);
    this.#local.setU64(size + at.base, second.into.address);
    this.#local.setU64(size + at.length, second.length);
    this.#remote.setU64(size + at.base, second.address);
    this.#remote.setU64(size + at.length, second.length);
    const got = sys("process_vm_readv", tid, this.#local.address, 2, this.#remote.address, 2, 0);
    return got === first.length + second.length;
  }

  #transfer(tid: number, address: number, into: KernelBuffer, length: number, at: number): number {
    this.#local.setU64(Iovec.at.base, into.address + at);
    this.#local.setU64(Iovec.at.length, length);
    this.#remote.setU64(Iovec.at.base, address);
    this.#remote.setU64(Iovec.at.length, length);
    return sys("process_vm_readv", tid, this.#local.address, 1, this.#remote.address, 1, 0);
  }
}
