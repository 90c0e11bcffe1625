import { Errno } from "../abi/errno.ts";
import { Iovec } from "../abi/process.ts";
import { KernelBuffer, sys } from "./libc.ts";

const PAGE_BYTES = 4096;

/** Reads the memory of other processes, without opening anything. */
export class RemoteMemory {
  readonly #local = new KernelBuffer(Iovec.size);
  readonly #remote = new KernelBuffer(Iovec.size);

  /** How many bytes could be read, up to the first that cannot; or a negated errno. */
  read(tid: number, address: number, into: KernelBuffer, length: number, at = 0): number {
    const whole = this.#transfer(tid, address, into, length, at);
    if (whole !== -Errno.EFAULT) return whole;
    // Nothing says that a read is cut short where the memory ends, so try what is left of the page.
    const toPageEnd = PAGE_BYTES - (address % PAGE_BYTES);
    return toPageEnd < length ? this.#transfer(tid, address, into, toPageEnd, at) : whole;
  }

  #transfer(tid: number, address: number, into: KernelBuffer, length: number, at: number): number {
    this.#local.setU64(Iovec.at.base, into.address + at);
    this.#local.setU64(Iovec.at.length, length);
    this.#remote.setU64(Iovec.at.base, address);
    this.#remote.setU64(Iovec.at.length, length);
    return sys("process_vm_readv", tid, this.#local.address, 1, this.#remote.address, 1, 0);
  }
}
