import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { textToBytes } from "../policy/byte-text.ts";

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
/** A line longer than this is no record: the largest argv that the kernel takes fits many times. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;

/** The lines of a file that may still grow, a chunk at a time. */
export class LogSource {
  readonly #path: string;
  readonly #chunk = Buffer.alloc(CHUNK_BYTES);
  #fd: number | null = null;
  #offset = 0;
  #rest: Buffer = Buffer.alloc(0);

  /** `-` is standard input. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Opens it; the name of the error if that fails. */
  open(): string | null {
    try {
      const path = Buffer.from(textToBytes(this.#path));
      this.#fd = this.#path === "-" ? 0 : openSync(path, "r");
      if (fstatSync(this.#fd).isDirectory()) return "EISDIR";
      return null;
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    }
  }

  /** The whole lines that came in; null at the end, which a later call may find moved. */
  read(): readonly string[] | null {
    if (this.#fd === null) return null;
    const length = readRetrying(this.#fd, this.#chunk);
    if (length === 0) return null;
    this.#offset += length;
    const data = Buffer.concat([this.#rest, this.#chunk.subarray(0, length)]);
    const end = data.lastIndexOf(NEWLINE);
    if (end < 0 && data.length < LINE_BYTES_MAX) {
      this.#rest = data;
      return [];
    }
    const cut = end < 0 ? data.length : end + 1;
    this.#rest = Buffer.from(data.subarray(cut));
    const lines = data.toString("utf8", 0, cut).split("\n");
    lines.pop();
    return end < 0 ? [data.toString("utf8", 0, cut)] : lines;
  }

  /** What stands behind the last newline. */
  get unfinished(): string {
    return this.#rest.toString("utf8");
  }

  /** True if the name leads to a new file now, or to one that was cut: then it is begun anew. */
  reopened(): boolean {
    if (this.#fd === null || this.#path === "-") return false;
    try {
      const now = statSync(Buffer.from(textToBytes(this.#path)));
      const held = fstatSync(this.#fd);
      if (now.ino === held.ino && now.dev === held.dev && now.size >= this.#offset) return false;
    } catch {
      // Moved away: what comes in its place is not there yet.
      return false;
    }
    closeSync(this.#fd);
    this.#offset = 0;
    this.#rest = Buffer.alloc(0);
    return this.open() === null;
  }
}

function readRetrying(fd: number, chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(fd, chunk, 0, chunk.length, null);
    } catch (error) {
      const code = (error as { code?: string }).code;
      if (code === "EAGAIN") Bun.sleepSync(5);
      else if (code === "EOF") return 0;
      else if (code !== "EINTR") throw error;
    }
  }
}
