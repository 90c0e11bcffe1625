import { KernelBuffer } from "../../ffi/calls/libc.ts";
import { RemoteMemory } from "../../ffi/calls/remote-memory.ts";
import type { Tracer } from "../../ffi/calls/tracer.ts";

const WORD_BYTES = 8;
/** With an environment of usual size, the strings are within this distance of the stack's end. */
const FIRST_READ_BYTES = 8192;
const BLOCK_BYTES = 64 * 1024;

/**
 * Compares the arguments that a program really got with those that were judged. At its exec stop
 * the kernel has just laid them out on a new stack: argc, then argv[], whose strings lie one after
 * the other. Nobody else can write there yet.
 */
export class StartedArgv {
  readonly #tracer: Tracer;
  readonly #memory = new RemoteMemory();
  readonly #top = new KernelBuffer(FIRST_READ_BYTES);
  #block = new KernelBuffer(BLOCK_BYTES);

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** False if they differ, or if it cannot be told this way. */
  equals(pid: number, cmdline: Buffer, count: number): boolean {
    const stack = this.#tracer.stackPointer(pid);
    if (stack === null) return false;
    const length = this.#memory.readAcross(pid, stack, this.#top, FIRST_READ_BYTES);
    if (length < WORD_BYTES * 2 || this.#top.u64(0) !== count) return false;
    const first = this.#top.u64(WORD_BYTES);
    const at = first - stack;
    if (at >= 0 && at + cmdline.length <= length) {
      return cmdline.compare(this.#top.bytes, at, at + cmdline.length) === 0;
    }
    if (cmdline.length > this.#block.bytes.length) this.#block = new KernelBuffer(cmdline.length);
    const got = this.#memory.read(pid, first, this.#block, cmdline.length);
    return got === cmdline.length && cmdline.compare(this.#block.bytes, 0, got) === 0;
  }
}
