import { Errno } from "../../ffi/abi/errno.ts";
import { AT_FDCWD, O_PATH } from "../../ffi/abi/file.ts";
import type { FileCalls, FileStat } from "../../ffi/calls/file.ts";
import { KernelBuffer } from "../../ffi/calls/libc.ts";
import type { Tracer } from "../../ffi/calls/tracer.ts";
import type { CallerReader } from "./caller.ts";
import { splitCmdline } from "./caller-memory.ts";
import type { ElfInterpreters } from "./elf-interpreters.ts";
import type { PendingExec } from "./exec-verifier.ts";
import type { MappedFile } from "./mapped-files.ts";
import { DELETED, NOT_HELD, type ProgramFile, type ProgramFinder } from "./program-file.ts";
import { StartedArgv } from "./started-argv.ts";

const CMDLINE_BYTES = 64 * 1024;

/** What was found running after an exec. */
export interface StartedProgram {
  readonly pid: number;
  readonly file: ProgramFile;
  readonly argv: readonly string[];
  readonly cmdline: Buffer;
  readonly cwd: string;
  /** Programs other than a loader that the kernel mapped as ELF interpreters. */
  readonly interpreters: readonly MappedFile[];
}

/** Looks at programs that are stopped at their exec, before their first instruction. */
export class StartedPrograms {
  readonly #files: FileCalls;
  readonly #callers: CallerReader;
  readonly #finder: ProgramFinder;
  readonly #argv: StartedArgv;
  readonly #interpreters: ElfInterpreters;
  #cmdline = new KernelBuffer(CMDLINE_BYTES);

  constructor(options: {
    readonly tracer: Tracer;
    readonly files: FileCalls;
    readonly callers: CallerReader;
    readonly finder: ProgramFinder;
    readonly interpreters: ElfInterpreters;
  }) {
    this.#files = options.files;
    this.#callers = options.callers;
    this.#finder = options.finder;
    this.#argv = new StartedArgv(options.tracer);
    this.#interpreters = options.interpreters;
  }

  /** Whether the program that stopped at its exec is the one that was judged. */
  isAsJudged(pid: number, { facts, judgement }: PendingExec): boolean {
    const exe = this.#files.stat(AT_FDCWD, `/proc/${pid}/exe`, 0);
    if (exe === null || exe.id !== judgement.expectedFileId) return false;
    if (facts.file.fd === NOT_HELD && !this.#isUnmoved(pid, exe, facts.file)) return false;
    const { expectedCmdline, expectedCount } = judgement;
    const isSameArgv =
      this.#argv.equals(pid, expectedCmdline, expectedCount) ||
      this.#cmdlineEquals(pid, expectedCmdline);
    if (!isSameArgv) return false;
    if (judgement.dependsOnCwd && this.#callers.cwd(pid) !== facts.cwd) return false;
    return this.#interpreters.isHarmless(pid, exe) || this.#interpreters.of(pid, exe)?.length === 0;
  }

  /**
   * For a file that was not held, and so might have been moved, or its number given to another. One
   * that was removed since, or replaced, is what it was.
   */
  #isUnmoved(pid: number, exe: FileStat, { stat, realPath }: ProgramFile): boolean {
    const link = `/proc/${pid}/exe`;
    const name = this.#files.readlink(link);
    if (name === realPath) return exe.changed === stat.changed;
    // The link count is looked at last: a file that merely has such a name has one.
    return name === realPath + DELETED && this.#files.stat(AT_FDCWD, link, 0)?.links === 0;
  }

  /** The slow way, for what has a stack of another shape: 32-bit programs. */
  #cmdlineEquals(pid: number, expected: Buffer): boolean {
    const length = this.#readCmdline(pid, expected.length);
    return length === expected.length && expected.compare(this.#cmdline.bytes, 0, length) === 0;
  }

  /** What there is instead; null if it cannot be told. */
  look(pid: number, { facts }: PendingExec): StartedProgram | null {
    const fd = this.#files.open(`/proc/${pid}/exe`, O_PATH);
    if (fd < 0) return null;
    const file = this.#finder.hold(fd);
    if (typeof file === "number") return null;
    const length = this.#readCmdline(pid, facts.cmdline.length);
    const cwd = this.#callers.cwd(pid);
    const interpreters = this.#interpreters.of(pid, file.stat);
    if (length < 0 || cwd === null || interpreters === null) {
      this.#finder.release(file);
      return null;
    }
    const cmdline = Buffer.from(this.#cmdline.bytes.subarray(0, length));
    return {
      pid,
      file,
      argv: splitCmdline(cmdline.toString("latin1")),
      cmdline,
      cwd,
      interpreters,
    };
  }

  #readCmdline(pid: number, expected: number): number {
    // One byte more than expected shows that there is more than expected.
    if (expected + 1 > this.#cmdline.bytes.length) {
      this.#cmdline = new KernelBuffer(expected + 4096);
    }
    for (;;) {
      const length = this.#files.slurp(`/proc/${pid}/cmdline`, this.#cmdline);
      if (length < this.#cmdline.bytes.length) return length;
      if (length > 8 * 1024 * 1024) return -Errno.E2BIG;
      this.#cmdline = new KernelBuffer(length * 2);
    }
  }
}
