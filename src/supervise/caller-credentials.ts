import type { FileCalls } from "../../ffi/calls/file.ts";
import { KernelBuffer } from "../../ffi/calls/libc.ts";

const STATUS_BYTES_MAX = 8192;
const IDENTITY = /^(?:Uid|Gid|Groups):.*$/gm;
/** CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID: all that counts for a file's metadata. */
const FILE_CAPABILITIES = 0b11111n;

/**
 * Tells whether a caller has the supervisor's own powers over files, so that the supervisor may act
 * in its place without giving it more, or less, than the kernel would.
 */
export class CallerCredentials {
  readonly #files: FileCalls;
  readonly #buffer = new KernelBuffer(STATUS_BYTES_MAX);
  readonly #own: string | null;

  constructor(files: FileCalls) {
    this.#files = files;
    this.#own = this.#of("self");
  }

  areOurs(tid: number): boolean {
    return this.#own !== null && this.#of(tid) === this.#own;
  }

  #of(pid: number | "self"): string | null {
    const length = this.#files.slurp(`/proc/${pid}/status`, this.#buffer);
    if (length <= 0) return null;
    const status = this.#buffer.bytes.toString("latin1", 0, length);
    const effective = /^CapEff:\t([0-9a-f]+)$/m.exec(status)?.[1];
    if (effective === undefined) return null;
    const capabilities = BigInt(`0x${effective}`) & FILE_CAPABILITIES;
    return `${status.match(IDENTITY)?.join("\n")}\n${capabilities}`;
  }
}
