import type { FileCalls } from "../../ffi/calls/file.ts";
import { KernelBuffer } from "../../ffi/calls/libc.ts";
import { type ProcessInfo, ProcessInfoCalls } from "../../ffi/calls/process-info.ts";

export type CallerStatus = ProcessInfo;

const STATUS_BYTES_MAX = 4096;
const TAB = 0x09;
const PF_EXITING = 4;

/** What the kernel says of the process that made a call. */
export class CallerReader {
  readonly #files: FileCalls;
  readonly #info = new ProcessInfoCalls();
  readonly #buffer = new KernelBuffer(STATUS_BYTES_MAX);
  #children = new KernelBuffer(STATUS_BYTES_MAX);

  constructor(files: FileCalls) {
    this.#files = files;
  }

  status(tid: number): CallerStatus | null {
    return this.#info.of(tid) ?? this.#statusFile(tid);
  }

  #statusFile(tid: number): CallerStatus | null {
    const length = this.#files.slurp(`/proc/${tid}/status`, this.#buffer);
    if (length <= 0) return null;
    const tgid = this.#number("\nTgid:", length);
    const ppid = this.#number("\nPPid:", length);
    const uid = this.#number("\nUid:", length);
    return tgid === null || ppid === null || uid === null ? null : { tgid, ppid, uid };
  }

  /** Null before Linux 4.7. */
  umask(tid: number): number | null {
    const length = this.#files.slurp(`/proc/${tid}/status`, this.#buffer);
    const text = this.#buffer.bytes.toString("latin1", 0, Math.max(length, 0));
    const [, octal] = /^Umask:\t([0-7]+)$/m.exec(text) ?? [];
    return octal === undefined ? null : Number.parseInt(octal, 8);
  }

  isTracedByUs(pid: number): boolean {
    const length = this.#files.slurp(`/proc/${pid}/status`, this.#buffer);
    if (length <= 0) return false;
    const tracer = this.#number("\nTracerPid:", length);
    return tracer !== null && tracer !== 0 && this.status(tracer)?.tgid === process.pid;
  }

  /** Whether a signal waits to be delivered to the thread or its process. */
  hasPending(tid: number, signal: number): boolean {
    const length = this.#files.slurp(`/proc/${tid}/status`, this.#buffer);
    const text = this.#buffer.bytes.toString("latin1", 0, Math.max(length, 0));
    const bit = 1n << BigInt(signal - 1);
    return Array.from(text.matchAll(/^(?:SigPnd|ShdPnd):\t([0-9a-f]+)$/gm)).some(
      ([, mask]) => (BigInt(`0x${mask}`) & bit) !== 0n,
    );
  }

  /** Whether a signal waits that the program handles itself and has not put off. */
  hasHandlerDue(tid: number): boolean {
    const length = this.#files.slurp(`/proc/${tid}/status`, this.#buffer);
    const text = this.#buffer.bytes.toString("latin1", 0, Math.max(length, 0));
    const masks = { SigPnd: 0n, ShdPnd: 0n, SigBlk: 0n, SigCgt: 0n };
    for (const [, name, mask] of text.matchAll(/^(SigPnd|ShdPnd|SigBlk|SigCgt):\t([0-9a-f]+)$/gm)) {
      masks[name as keyof typeof masks] = BigInt(`0x${mask}`);
    }
    return ((masks.SigPnd | masks.ShdPnd) & ~masks.SigBlk & masks.SigCgt) !== 0n;
  }

  /** One character a byte; null for a directory that cannot be read. */
  cwd(tid: number): string | null {
    return this.#files.readlink(`/proc/${tid}/cwd`);
  }

  /** Clock ticks since boot: with the pid it names one process for good. */
  startTime(pid: number): string | null {
    return this.#stat(pid)?.[19] ?? null;
  }

  /** Whether it has ended, or is beyond any return from that. */
  isExiting(pid: number): boolean {
    const flags = this.#stat(pid)?.[6];
    return flags === undefined || (Number(flags) & PF_EXITING) !== 0;
  }

  /** The fields of the stat file from the state on. */
  #stat(pid: number): readonly string[] | null {
    const length = this.#files.slurp(`/proc/${pid}/stat`, this.#buffer);
    if (length <= 0) return null;
    const text = this.#buffer.bytes.toString("latin1", 0, length);
    // The name before them may hold spaces and parentheses; fields are counted after its end.
    return text.slice(text.lastIndexOf(")") + 2).split(" ", 20);
  }

  /** Of a process with one thread. None where the kernel has no list of them. */
  children(pid: number): readonly number[] {
    for (;;) {
      const path = `/proc/${pid}/task/${pid}/children`;
      const length = this.#files.slurpRecords(path, this.#children);
      if (length <= 0) return [];
      if (length < this.#children.bytes.length) {
        const words = this.#children.bytes.toString("latin1", 0, length).trimEnd();
        return words === "" ? [] : words.split(" ").map(Number);
      }
      this.#children = new KernelBuffer(length * 2);
    }
  }

  /** The first number after a label of the status file; the name in line one cannot fake it. */
  #number(label: string, length: number): number | null {
    const { bytes } = this.#buffer;
    const found = bytes.indexOf(label, 0, "latin1");
    if (found < 0 || found >= length) return null;
    let at = found + label.length;
    while (bytes[at] === TAB) at++;
    let value = 0;
    for (let digit = bytes[at]; digit !== undefined && digit >= 48 && digit <= 57; ) {
      value = value * 10 + digit - 48;
      at++;
      digit = bytes[at];
    }
    return value;
  }
}
