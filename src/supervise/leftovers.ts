import { Signal } from "../../ffi/abi/process.ts";
import { kill } from "../../ffi/calls/process.ts";
import { escapeControl } from "../policy/escape-control.ts";

export interface Leftover {
  readonly pid: number;
  readonly name: string;
}

/** Loaded only when something is left: it costs a thread more than a millisecond of start-up. */
const fs = (): typeof import("node:fs") => require("node:fs");

/** Every process that descends from `ancestor`, by one look through /proc. */
export function descendants(ancestor: number): Leftover[] {
  const children = new Map<number, Leftover[]>();
  for (const entry of fs().readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const process = readStat(Number(entry));
    if (process === null) continue;
    const siblings = children.get(process.ppid);
    if (siblings === undefined) children.set(process.ppid, [process]);
    else siblings.push(process);
  }
  const found: Leftover[] = [];
  const queue = [ancestor];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    for (const child of children.get(at) ?? []) {
      found.push({ pid: child.pid, name: child.name });
      queue.push(child.pid);
    }
    children.delete(at);
  }
  return found;
}

interface ProcessStat extends Leftover {
  readonly ppid: number;
  readonly state: string;
}

function readStat(pid: number): ProcessStat | null {
  try {
    const text = fs().readFileSync(`/proc/${pid}/stat`, "latin1");
    const end = text.lastIndexOf(")");
    const [state = "", ppid] = text.slice(end + 2).split(" ", 2);
    if (state === "Z" || state === "X") return null;
    return { pid, name: text.slice(text.indexOf("(") + 1, end), ppid: Number(ppid), state };
  } catch {
    return null;
  }
}

/** Stopped by a signal, as by Ctrl-Z. */
export function isStopped(pid: number): boolean {
  return readStat(pid)?.state === "T";
}

/** Asks every descendant to end, or makes it. A stopped one must be continued to notice. */
export function signalAll(processes: readonly Leftover[], signal: number): void {
  for (const { pid } of processes) {
    kill(pid, signal);
    if (signal !== Signal.KILL) kill(pid, Signal.CONT);
  }
}

const NAMED_MAX = 5;

/** What the user is told of processes that outlived the command. */
export function leftoversLine(leftovers: readonly Leftover[], waits: boolean): string {
  const count = leftovers.length;
  const named = leftovers
    .slice(0, NAMED_MAX)
    .map(({ pid, name }) => `${escapeControl(name)}[${pid}]`);
  const more = count > NAMED_MAX ? `, and ${count - NAMED_MAX} more` : "";
  const noun = count === 1 ? "process" : "processes";
  const verb = waits ? "waiting for" : "ending";
  return `${verb} ${count} ${noun} that the command left running: ${named.join(", ")}${more}`;
}
