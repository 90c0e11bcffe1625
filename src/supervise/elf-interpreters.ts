import { O_NONBLOCK, O_RDONLY } from "../../ffi/abi/file.ts";
import type { FileCalls, FileStat } from "../../ffi/calls/file.ts";
import { KernelBuffer } from "../../ffi/calls/libc.ts";
import { isSystemLoader } from "./dynamic-loader.ts";
import { elfInterpreter } from "./elf-header.ts";
import type { MappedFile, MappedFiles } from "./mapped-files.ts";

const REMEMBERED_MAX = 4096;
/** Times of change are as coarse as a clock tick, so what changed just now may change unseen. */
const SETTLED_SECONDS = 2;
const HEAD_BYTES = 4096;

/**
 * Finds programs that the kernel mapped as ELF interpreters. A PT_INTERP may name any program, and
 * exe does not show it: just after an exec, it is the other file that is mapped.
 */
export class ElfInterpreters {
  readonly #files: FileCalls;
  readonly #mapped: MappedFiles;
  readonly #nowSeconds: () => number;
  readonly #head = new KernelBuffer(HEAD_BYTES);
  /** Programs, as they are now, that ask for the system's own loader or for none. */
  readonly #harmless = new Map<string, string>();
  #runningIsFixed: boolean | undefined;

  constructor(files: FileCalls, mapped: MappedFiles, nowSeconds: () => number) {
    this.#files = files;
    this.#mapped = mapped;
    this.#nowSeconds = nowSeconds;
  }

  /** True if what is in the file now is known to bring no interpreter but a loader. */
  isHarmless(pid: number, exe: FileStat): boolean {
    // A mapping that outlives an exec may go on writing without a trace, on any file system.
    this.#runningIsFixed ??= this.#askIfRunningIsFixed();
    if (!this.#runningIsFixed) return false;
    if (exe.devMajor !== 0) return this.#harmless.get(exe.id) === exe.changed;
    // What may be written without a trace at other times is looked at each time.
    return this.#asksForLoader(pid);
  }

  /** Linux 6.11 and 6.12 let a program be written while it runs. All others hold it as it is. */
  #askIfRunningIsFixed(): boolean {
    const length = this.#files.slurp("/proc/sys/kernel/osrelease", this.#head);
    const release = this.#head.bytes.toString("latin1", 0, Math.max(length, 0));
    return /^\d+\.\d+\./.test(release) && !/^6\.1[12]\./.test(release);
  }

  /** The interpreters that are no loader; null if it cannot be told. */
  of(pid: number, exe: FileStat): MappedFile[] | null {
    const found = this.#mapped.of(pid)?.filter(({ path }) => !isSystemLoader(path)) ?? null;
    if (found?.length === 0 && exe.devMajor !== 0) this.#remember(pid, exe);
    return found;
  }

  #remember(pid: number, exe: FileStat): void {
    if (this.#nowSeconds() - Number(exe.changed) < SETTLED_SECONDS) return;
    if (!this.#asksForLoader(pid)) return;
    if (this.#harmless.size >= REMEMBERED_MAX) this.#harmless.clear();
    this.#harmless.set(exe.id, exe.changed);
  }

  /** A name in the program that leads to a loader through a link may lead elsewhere next time. */
  #asksForLoader(pid: number): boolean {
    const fd = this.#files.open(`/proc/${pid}/exe`, O_RDONLY | O_NONBLOCK);
    if (fd < 0) return false;
    const length = this.#files.pread(fd, this.#head, HEAD_BYTES, 0);
    this.#files.close(fd);
    const asked = elfInterpreter(this.#head.bytes.subarray(0, Math.max(length, 0)));
    return asked === "" || (asked !== null && isSystemLoader(asked));
  }
}
