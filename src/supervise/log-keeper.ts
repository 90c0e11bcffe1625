import type { Fd } from "../../ffi/abi/brand.ts";
import {
  AT_EMPTY_PATH,
  AT_FDCWD,
  O_CREAT,
  O_EXCL,
  O_PATH,
  O_RDONLY,
  O_WRONLY,
  S_IFMT,
  S_IFREG,
} from "../../ffi/abi/file.ts";
import { FileCalls, type FileStat } from "../../ffi/calls/file.ts";
import { KernelBuffer } from "../../ffi/calls/libc.ts";
import { writeAll } from "../../ffi/calls/socket.ts";

const CHUNK_BYTES = 64 * 1024;

/**
 * Looks after a log that the command may be able to reach, as one in the working directory: what
 * has been removed or replaced is written again when the command is gone, and what has been cut is
 * told. (Whoever may write a file may also change a line of it. Keep a log that must stand up to
 * that where no grant leads.)
 */
export class LogKeeper {
  readonly #files = new FileCalls();
  readonly #fd: number;
  /** Held, because the way to it may lead elsewhere at the end. */
  readonly #directory: number;
  readonly #name: string;
  readonly #atStart: FileStat | null;

  /** `path` holds one character a byte. To be made when the first record is written. */
  constructor(path: string, fd: number) {
    const slash = path.lastIndexOf("/");
    const directory = slash < 0 ? "." : path.slice(0, slash + 1);
    this.#fd = fd;
    this.#name = path.slice(slash + 1);
    this.#directory = this.#files.open(directory, O_PATH, AT_FDCWD);
    this.#atStart = this.#own();
  }

  /** What happened to the log, as the rest of a sentence about it; null if nothing did. */
  restore(session: string): string | null {
    const before = this.#atStart;
    // A pipe, a terminal, /dev/null: nobody can take it away.
    if (before === null || (before.mode & S_IFMT) !== S_IFREG || this.#directory < 0) return null;
    const found = this.#files.stat(this.#directory, this.#name, 0);
    if (found?.id === before.id) {
      const isCut = (this.#own()?.sizeBytes ?? 0) < before.sizeBytes;
      return isCut ? "was cut while the command ran: records are missing" : null;
    }
    const event = found === null ? "removed" : "replaced";
    if (found === null && this.#copyTo(this.#name)) {
      return "was removed while the command ran, and has been written again";
    }
    const other = `${this.#name}.${session}`;
    const where = this.#copyTo(other) ? `what was recorded is in ${other} beside it` : "it is lost";
    return `was ${event} while the command ran: ${where}`;
  }

  #own(): FileStat | null {
    return this.#files.stat(this.#fd, "", AT_EMPTY_PATH);
  }

  /** Nothing is followed or overwritten on the way: the command may have left links behind. */
  #copyTo(name: string): boolean {
    const from = this.#files.open(`/proc/self/fd/${this.#fd}`, O_RDONLY);
    const to = this.#files.open(name, O_WRONLY | O_CREAT | O_EXCL, this.#directory as Fd, 0o600);
    if (from < 0 || to < 0) return false;
    const chunk = new KernelBuffer(CHUNK_BYTES);
    for (;;) {
      const length = this.#files.read(from, chunk);
      if (length <= 0) return length === 0;
      if (writeAll(to as Fd, chunk.bytes.subarray(0, length)) < 0) return false;
    }
  }
}
