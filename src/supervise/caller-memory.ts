import { Errno } from "../../ffi/abi/errno.ts";
import { KernelBuffer } from "../../ffi/calls/libc.ts";
import { RemoteMemory } from "../../ffi/calls/remote-memory.ts";

/** The kernel's own limits: PATH_MAX, MAX_ARG_STRLEN, and 3/4 of an 8 MiB stack for all of argv. */
const PATH_BYTES_MAX = 4096;
const ARGUMENT_BYTES_MAX = 131_072;
const ARGV_BYTES_MAX = 6 * 1024 * 1024;

const POINTERS_PER_READ = 64;
const WINDOW_BYTES = ARGUMENT_BYTES_MAX + 1;
const FIRST_READ_BYTES = 1024;
const PAGE_BYTES = 4096;
const ADDRESS_MAX = Number.MAX_SAFE_INTEGER - ARGV_BYTES_MAX;

/**
 * Strings in the memory of a caller. Nothing that is read here is believed in the end: the caller
 * may change it at any time, so the exec is verified when it is done.
 */
export class CallerMemory {
  readonly #memory = new RemoteMemory();
  readonly #pointers = new KernelBuffer(POINTERS_PER_READ * 8);
  readonly #window = new KernelBuffer(WINDOW_BYTES);
  #windowStart = 0;
  #windowLength = 0;
  #pointersStart = 0;
  #out = Buffer.allocUnsafeSlow(64 * 1024);
  #tid = 0;

  /** The thread whose memory is read from here on. */
  turnTo(tid: number): void {
    this.#tid = tid;
    this.#windowLength = 0;
    this.#pointersStart = 0;
  }

  /**
   * Turns to a thread and fetches, if it can be done in one go, what its exec points to. The whole
   * page that the path starts in: arguments are often near it.
   */
  turnToExec(tid: number, pathAddress: number, argvAddress: number): void {
    this.turnTo(tid);
    const page = pathAddress - (pathAddress % PAGE_BYTES);
    const isFetched = this.#memory.readPair(
      tid,
      { address: page, into: this.#window, length: PAGE_BYTES },
      { address: argvAddress, into: this.#pointers, length: POINTERS_PER_READ * 8 },
    );
    this.#windowStart = page;
    this.#windowLength = isFetched ? PAGE_BYTES : 0;
    this.#pointersStart = isFetched ? argvAddress : 0;
  }

  /** A path, one character a byte; or a negated errno, as the kernel would answer the caller. */
  path(address: number): string | number {
    const range = this.#string(address, PATH_BYTES_MAX, Errno.ENAMETOOLONG);
    if (typeof range === "number") return range;
    return this.#window.bytes.toString("latin1", range.start, range.end);
  }

  /**
   * argv as the kernel will lay it out, one character a byte: each argument with its NUL, one after
   * the other. Or a negated errno.
   */
  cmdline(address: number): string | number {
    // A caller may pass NULL for an empty list. Either way the program gets one empty argument.
    if (address === 0) return "\0";
    let used = 0;
    let count = 0;
    for (let at = address; used + count * 8 < ARGV_BYTES_MAX; at += POINTERS_PER_READ * 8) {
      const isFetched = at === this.#pointersStart;
      const bytes = POINTERS_PER_READ * 8;
      const got = isFetched ? bytes : this.#read(this.#pointers, bytes, at);
      const pointers = Math.floor(got / 8);
      if (pointers <= 0) return unreadable(got);
      for (let index = 0; index < pointers; index++) {
        const pointer = this.#pointers.u64(index * 8);
        if (pointer === 0) return this.#finish(used);
        const range = this.#string(pointer, ARGUMENT_BYTES_MAX, Errno.E2BIG);
        if (typeof range === "number") return range;
        used = this.#append(used, range);
        count++;
      }
      if (pointers < POINTERS_PER_READ) return -Errno.EFAULT;
    }
    return -Errno.E2BIG;
  }

  #finish(used: number): string {
    if (used === 0) return "\0";
    const cmdline = this.#out.toString("latin1", 0, used);
    if (this.#out.length > 1024 * 1024) this.#out = Buffer.allocUnsafeSlow(64 * 1024);
    return cmdline;
  }

  #append(used: number, range: { start: number; end: number }): number {
    const length = range.end - range.start + 1;
    if (used + length > this.#out.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.#out.length * 2, used + length));
      this.#out.copy(larger, 0, 0, used);
      this.#out = larger;
    }
    this.#window.bytes.copy(this.#out, used, range.start, range.end + 1);
    return used + length;
  }

  /** Finds a string's bytes in the window, filling it from the caller's memory as needed. */
  #string(
    address: number,
    bytesMax: number,
    tooLong: number,
  ): { start: number; end: number } | number {
    if (address === 0 || address > ADDRESS_MAX) return -Errno.EFAULT;
    if (address >= this.#windowStart && address < this.#windowStart + this.#windowLength) {
      const start = address - this.#windowStart;
      const end = this.#window.bytes.indexOf(0, start);
      if (end >= 0 && end < this.#windowLength && end - start < bytesMax) return { start, end };
    }
    this.#windowStart = address;
    this.#windowLength = 0;
    let ask = FIRST_READ_BYTES;
    while (this.#windowLength < WINDOW_BYTES) {
      const room = Math.min(ask, WINDOW_BYTES - this.#windowLength);
      const at = this.#windowLength;
      const got = this.#read(this.#window, room, address + at, at);
      if (got <= 0) return unreadable(got);
      this.#windowLength += got;
      const end = this.#window.bytes.indexOf(0, at);
      if (end >= 0 && end < this.#windowLength) {
        return end < bytesMax ? { start: 0, end } : -tooLong;
      }
      ask *= 4;
    }
    return -tooLong;
  }

  #read(into: KernelBuffer, length: number, address: number, at = 0): number {
    return this.#memory.read(this.#tid, address, into, length, at);
  }
}

/** EPERM: the caller made itself unreadable to us. To deny is all that is left. */
function unreadable(result: number): number {
  return result === -Errno.EPERM ? -Errno.EACCES : -Errno.EFAULT;
}

/** Splits the kernel's layout into arguments, one character a byte. */
export function splitCmdline(cmdline: string): string[] {
  const parts = cmdline.split("\0");
  // Each argument ends in a NUL, so the piece after the last one is empty.
  parts.pop();
  return parts;
}
