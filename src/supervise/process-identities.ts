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

const UNKNOWN: ParentIdentity = { exe: null, argv: null, trusted: false };
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
  /** What the parent of a process was when it forked it, if it has become something else since. */
  readonly #origins = new Map<number, Known>();
  /** Processes that orphans are given to, with their start times. */
  readonly #reapers = new Map<number, string>();
  readonly #cmdline = new KernelBuffer(256 * 1024);

  constructor(files: FileCalls, callers: CallerReader) {
    this.#files = files;
    this.#callers = callers;
  }

  /** From here on it may have children that it did not start; an exec does not end that. */
  noteReaper(pid: number): void {
    const startTime = this.#callers.startTime(pid);
    if (startTime !== null) this.#reapers.set(pid, startTime);
  }

  #isReaper(pid: number): boolean {
    const startTime = this.#reapers.get(pid);
    return startTime !== undefined && this.#callers.startTime(pid) === startTime;
  }

  /** To be called while the process is stopped at its exec, so that it forks nobody meanwhile. */
  remember(pid: number, exe: string, argv: readonly string[]): void {
    this.#settleChildren(pid);
    this.#note(this.#known, pid, { exe, argv, trusted: true });
  }

  /** Children from before an exec were started by what their parent was, and are copies of it. */
  #settleChildren(pid: number): void {
    const children = this.#callers.children(pid);
    if (children.length === 0) return;
    const former = this.#nearestKnown(pid) ?? UNKNOWN;
    for (const child of children) {
      if (this.#lookup(this.#known, child) === null) this.#note(this.#known, child, former);
      if (this.#lookup(this.#origins, child) === null) this.#note(this.#origins, child, former);
    }
  }

  #note(table: Map<number, Known>, pid: number, identity: ParentIdentity): void {
    const startTime = this.#callers.startTime(pid);
    if (startTime === null) return;
    if (table.size >= KNOWN_MAX) this.#forgetDead(table);
    table.set(pid, { startTime, identity });
  }

  /**
   * Who started a process. An orphan is given to us by the kernel, or to a reaper among the agent's
   * processes, and it must not get rid of its origin by that: it still is a copy of the process
   * that forked it, or what it has become since.
   */
  parentOf({
    tgid,
    ppid,
  }: {
    readonly tgid: number;
    readonly ppid: number;
  }): ParentIdentity | null {
    const isOurs = ppid === process.pid || ppid <= 1;
    if (isOurs ? this.#isLauncher(tgid) : !this.#isReaper(ppid)) {
      return this.#lookup(this.#origins, tgid) ?? this.of(ppid);
    }
    return this.#lookup(this.#known, tgid) ?? this.#fromProc(tgid);
  }

  /** The command before its first exec is still a copy of this very program. */
  #isLauncher(pid: number): boolean {
    const own = this.#files.readlink("/proc/self/exe");
    return own !== null && this.#files.readlink(`/proc/${pid}/exe`) === own;
  }

  /** The identity of a process, or of the nearest ancestor that it was forked from. */
  of(pid: number): ParentIdentity | null {
    return this.#nearestKnown(pid) ?? this.#fromProc(pid);
  }

  #nearestKnown(pid: number): ParentIdentity | null {
    let at = pid;
    for (let step = 0; step < ANCESTORS_MAX && at > 1; step++) {
      const known = this.#lookup(this.#known, at);
      if (known !== null) return known;
      if (at === process.pid) break;
      at = this.#callers.status(at)?.ppid ?? 0;
    }
    return null;
  }

  #lookup(table: ReadonlyMap<number, Known>, pid: number): ParentIdentity | null {
    const known = table.get(pid);
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

  #forgetDead(table: Map<number, Known>): void {
    for (const [pid, known] of table) {
      if (this.#callers.startTime(pid) !== known.startTime) table.delete(pid);
    }
    // All alive: drop the oldest half rather than grow; they are then read from /proc, untrusted.
    if (table.size < KNOWN_MAX) return;
    let surplus = KNOWN_MAX / 2;
    for (const pid of table.keys()) {
      if (surplus-- <= 0) return;
      table.delete(pid);
    }
  }
}
