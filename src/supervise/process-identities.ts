import type { FileCalls } from "../../ffi/calls/file.ts";
import { KernelBuffer } from "../../ffi/calls/libc.ts";
import type { ParentIdentity } from "../policy/request.ts";
import type { CallerReader } from "./caller.ts";
import { splitCmdline } from "./caller-memory.ts";
import { textOf } from "./latin1-text.ts";

interface Known {
  readonly startTime: string;
  readonly identity: ParentIdentity;
}

const KNOWN_MAX = 8192;
const ANCESTORS_MAX = 64;

/**
 * What each process became at its verified exec. Parent rules go by this: a process can rewrite
 * its own argv in memory afterwards, but not what was seen before its first instruction.
 */
export class ProcessIdentities {
  readonly #files: FileCalls;
  readonly #callers: CallerReader;
  readonly #known = new Map<number, Known>();
  readonly #cmdline = new KernelBuffer(256 * 1024);

  constructor(files: FileCalls, callers: CallerReader) {
    this.#files = files;
    this.#callers = callers;
  }

  remember(pid: number, exe: string, argv: readonly string[]): void {
    const startTime = this.#callers.startTime(pid);
    if (startTime === null) return;
    if (this.#known.size >= KNOWN_MAX) this.#forgetDead();
    this.#known.set(pid, { startTime, identity: { exe, argv, trusted: true } });
  }

  /**
   * Who started a process. An orphan is given to us by the kernel, and it must not get rid of its
   * origin by that: it still is a copy of the process that forked it, or what it has become since.
   */
  parentOf({
    tgid,
    ppid,
  }: {
    readonly tgid: number;
    readonly ppid: number;
  }): ParentIdentity | null {
    const isOurs = ppid === process.pid || ppid <= 1;
    if (!isOurs || this.#isLauncher(tgid)) return this.of(ppid);
    return this.#lookup(tgid) ?? this.#fromProc(tgid);
  }

  /** The command before its first exec is still a copy of this very program. */
  #isLauncher(pid: number): boolean {
    const own = this.#files.readlink("/proc/self/exe");
    return own !== null && this.#files.readlink(`/proc/${pid}/exe`) === own;
  }

  /** The identity of a process, or of the nearest ancestor that it was forked from. */
  of(pid: number): ParentIdentity | null {
    let at = pid;
    for (let step = 0; step < ANCESTORS_MAX && at > 1; step++) {
      const known = this.#lookup(at);
      if (known !== null) return known;
      if (at === process.pid) break;
      at = this.#callers.status(at)?.ppid ?? 0;
    }
    return this.#fromProc(pid);
  }

  #lookup(pid: number): ParentIdentity | null {
    const known = this.#known.get(pid);
    if (known === undefined) return null;
    // A recycled pid has another start time.
    return this.#callers.startTime(pid) === known.startTime ? known.identity : null;
  }

  /** A forked process whose origin has exited. Its exe is the kernel's word, its argv its own. */
  #fromProc(pid: number): ParentIdentity | null {
    const exe = this.#files.readlink(`/proc/${pid}/exe`);
    if (exe === null) return null;
    const length = this.#files.slurp(`/proc/${pid}/cmdline`, this.#cmdline);
    const argv =
      length <= 0 ? null : splitCmdline(this.#cmdline.bytes.toString("latin1", 0, length));
    return { exe: textOf(exe), argv: argv?.map(textOf) ?? null, trusted: false };
  }

  #forgetDead(): void {
    for (const [pid, known] of this.#known) {
      if (this.#callers.startTime(pid) !== known.startTime) this.#known.delete(pid);
    }
    // All alive: drop the oldest half rather than grow; they are then read from /proc, untrusted.
    if (this.#known.size < KNOWN_MAX) return;
    let surplus = KNOWN_MAX / 2;
    for (const pid of this.#known.keys()) {
      if (surplus-- <= 0) return;
      this.#known.delete(pid);
    }
  }
}
