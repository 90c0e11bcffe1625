import type { Fd } from "../abi/brand.ts";
import { Errno } from "../abi/errno.ts";
import { AT_FDCWD, O_CLOEXEC, OpenHow, STATX_BASIC, Statx } from "../abi/file.ts";
import { KernelBuffer, sys } from "./libc.ts";

export const PATH_BYTES_MAX = 4096;

/** Identity of a file: two paths with the same id name the same file. */
export interface FileStat {
  readonly id: string;
  readonly mode: number;
  readonly links: number;
  readonly sizeBytes: number;
  /** Changes whenever content or metadata do, as far as the file system tells: see `devMajor`. */
  readonly changed: string;
  /**
   * Zero for a file system without a device of its own. Some of those (tmpfs) do not tell of what
   * is written through a mapping; the others do, once a page of it is touched.
   */
  readonly devMajor: number;
}

/** As the kernel numbers it. */
interface RawStat extends FileStat {
  readonly devMinor: number;
  readonly ctimeSec: number;
  readonly ctimeNsec: number;
  readonly inoLow: number;
}

const STATS_MAX = 256;

/** Small proc files come in one piece; a second read only confirms the end of larger ones. */
const SHORT_BYTES = 1024;

/** File calls through buffers of their own: one object a thread, nothing allocated a call. */
export class FileCalls {
  readonly #path = new KernelBuffer(PATH_BYTES_MAX + 64);
  readonly #link = new KernelBuffer(PATH_BYTES_MAX);
  readonly #statx = new KernelBuffer(Statx.size);
  readonly #how = new KernelBuffer(OpenHow.size);
  /** By inode, the last of each: to make the texts anew takes longer than to ask the kernel. */
  readonly #stats = new Map<number, RawStat>();

  /** `path` holds one character a byte. Below zero: the negated errno. */
  open(path: string, flags: number, dir: Fd | typeof AT_FDCWD = AT_FDCWD, mode = 0): Fd | number {
    if (path.length > PATH_BYTES_MAX) return -Errno.ENAMETOOLONG;
    return sys("openat", dir, this.#path.cstring(path), flags | O_CLOEXEC, mode);
  }

  openResolving(path: string, flags: number, resolve: number, dir: Fd | number): Fd | number {
    if (path.length > PATH_BYTES_MAX) return -Errno.ENAMETOOLONG;
    this.#how.setU64(OpenHow.at.flags, flags | O_CLOEXEC);
    this.#how.setU64(OpenHow.at.resolve, resolve);
    return sys("openat2", dir, this.#path.cstring(path), this.#how.address, OpenHow.size);
  }

  close(fd: Fd | number): void {
    sys("close", fd);
  }

  read(fd: Fd | number, into: KernelBuffer, length = into.bytes.length): number {
    return sys("read", fd, into.address, length);
  }

  /** Reads into the rest of a buffer. */
  readAt(fd: Fd | number, into: KernelBuffer, at: number): number {
    return sys("read", fd, into.address + at, into.bytes.length - at);
  }

  pread(fd: Fd | number, into: KernelBuffer, length: number, offset: number, at = 0): number {
    return sys("pread64", fd, into.address + at, length, offset);
  }

  /** The link's target, one character a byte; null if it cannot be read. */
  readlink(path: string): string | null {
    const length = sys(
      "readlinkat",
      AT_FDCWD,
      this.#path.cstring(path),
      this.#link.address,
      PATH_BYTES_MAX,
    );
    return length < 0 ? null : this.#link.bytes.toString("latin1", 0, length);
  }

  /** With `AT_EMPTY_PATH` and an empty path it is the descriptor itself. */
  stat(dir: Fd | number, path: string, flags: number): FileStat | null {
    const result = sys(
      "statx",
      dir,
      this.#path.cstring(path),
      flags,
      STATX_BASIC,
      this.#statx.address,
    );
    if (result < 0) return null;
    const ino = this.#statx.u64(Statx.at.ino);
    const known = this.#stats.get(ino);
    if (known !== undefined && this.#isStill(known)) return known;
    const stat = this.#rawStat(ino);
    if (this.#stats.size >= STATS_MAX) this.#stats.clear();
    this.#stats.set(ino, stat);
    return stat;
  }

  /** Whether the kernel's answer is the same as it was, in all that we look at. */
  #isStill(known: RawStat): boolean {
    const { at } = Statx;
    const { view } = this.#statx;
    return (
      // Found by the number as a double, which rounds those of some network file systems.
      view.getUint32(at.ino, true) === known.inoLow &&
      view.getUint32(at.ctimeNsec, true) === known.ctimeNsec &&
      this.#statx.u64(at.ctimeSec) === known.ctimeSec &&
      view.getUint32(at.devMinor, true) === known.devMinor &&
      view.getUint32(at.devMajor, true) === known.devMajor &&
      view.getUint16(at.mode, true) === known.mode &&
      view.getUint32(at.nlink, true) === known.links &&
      this.#statx.u64(at.size) === known.sizeBytes
    );
  }

  #rawStat(ino: number): RawStat {
    const { at } = Statx;
    const { view } = this.#statx;
    const devMajor = view.getUint32(at.devMajor, true);
    const devMinor = view.getUint32(at.devMinor, true);
    const ctimeSec = this.#statx.u64(at.ctimeSec);
    const ctimeNsec = view.getUint32(at.ctimeNsec, true);
    return {
      devMajor,
      devMinor,
      ctimeSec,
      ctimeNsec,
      inoLow: view.getUint32(at.ino, true),
      id: `${devMajor}:${devMinor}:${exactly(ino, view, at.ino)}`,
      mode: view.getUint16(at.mode, true),
      links: view.getUint32(at.nlink, true),
      sizeBytes: this.#statx.u64(at.size),
      changed: `${ctimeSec}.${ctimeNsec}`,
    };
  }

  /** A whole small file of /proc into `into`; the number of bytes, or a negated errno. */
  slurp(path: string, into: KernelBuffer): number {
    return this.#readFile(path, into, SHORT_BYTES);
  }

  /**
   * The same for a file of many records, such as maps. A piece of it may be short although more
   * follows: the kernel ends one where the next record does not fit in its page.
   */
  slurpRecords(path: string, into: KernelBuffer): number {
    return this.#readFile(path, into, 1);
  }

  /** Until the buffer is full, or a piece has fewer bytes than `lastBytes`. */
  #readFile(path: string, into: KernelBuffer, lastBytes: number): number {
    const fd = this.open(path, 0);
    if (fd < 0) return fd;
    let total = 0;
    while (total < into.bytes.length) {
      const got = sys("read", fd, into.address + total, into.bytes.length - total);
      if (got < 0) total = got;
      else total += got;
      if (got < lastBytes) break;
    }
    this.close(fd);
    return total;
  }
}

/** A number that a double cannot hold is asked for again: rounded, it would name many files. */
function exactly(number: number, view: DataView, offset: number): number | bigint {
  return Number.isSafeInteger(number) ? number : view.getBigUint64(offset, true);
}
