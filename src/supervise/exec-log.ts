import { type Journal, rawBytes, readable } from "../audit/journal.ts";
import { AUDIT_VERSION, type ExecCounts, type ExecRecord } from "../audit/record.ts";
import { escapeControl } from "../policy/escape-control.ts";
import type { Verdict } from "../policy/request.ts";
import type { CallerStatus } from "./caller.ts";
import type { ExecFacts } from "./exec-judge.ts";
import { textOf } from "./latin1-text.ts";

/** What is said of one execve, whatever came of it. Texts are lossless. */
export interface ExecEntry {
  readonly event: "exec" | "exec-mismatch";
  readonly pid: number;
  readonly ppid: number;
  readonly uid: number;
  readonly exe: string;
  readonly realExe: string | null;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly action: "allow" | "deny" | "error";
  readonly ruleId: string | null;
  readonly reason: string;
}

/** The entry of a program that was judged. */
export function execEntry(
  event: ExecEntry["event"],
  process: { readonly pid: number; readonly ppid: number },
  facts: ExecFacts,
  verdict: Verdict,
): ExecEntry {
  return {
    event,
    ...process,
    uid: facts.uid,
    exe: textOf(facts.invoked),
    realExe: textOf(facts.file.realPath),
    argv: facts.argv.map(textOf),
    cwd: textOf(facts.cwd),
    action: verdict.action,
    ruleId: verdict.ruleId,
    reason: verdict.reason,
  };
}

/** The entry of a call of which nothing could be read, so that it was denied. */
export function unreadableEntry(tid: number, status: CallerStatus | null): ExecEntry {
  return {
    event: "exec",
    pid: status?.tgid ?? tid,
    ppid: status?.ppid ?? 0,
    uid: status?.uid ?? 0,
    exe: "(unreadable)",
    realExe: null,
    argv: [],
    cwd: "(unreadable)",
    action: "deny",
    ruleId: "builtin:unreadable",
    reason: "the caller hides its memory (PR_SET_DUMPABLE, or a program that cannot be read)",
  };
}

/** An entry whose record is ready but for its time and its processes. */
export interface PreparedEntry {
  readonly entry: ExecEntry;
  readonly json: string;
}

/** The fields of a record that are the same whenever the same is started in the same way. */
type RecordRest = Omit<ExecRecord, "v" | "event" | "ts" | "session" | "pid" | "ppid">;

export interface Denial {
  readonly exe: string;
  /** The file that a rule to allow it would name. */
  readonly realExe: string;
  readonly argv: readonly string[];
  readonly ruleId: string;
  readonly reason: string;
  count: number;
}

const DENIALS_MAX = 100;
const TRACE_ARGV_CHARACTERS_MAX = 400;

/** Records verdicts: the journal, the counts, the denials for the closing summary, the trace. */
export class ExecLog {
  readonly #journal: Journal;
  readonly #session: string;
  readonly #trace: ((line: string) => void) | null;
  readonly #denials = new Map<string, Denial>();
  readonly #counts = { allow: 0, deny: 0, error: 0, mismatch: 0 };

  constructor(journal: Journal, session: string, trace: ((line: string) => void) | null) {
    this.#journal = journal;
    this.#session = JSON.stringify(session);
    this.#trace = trace;
  }

  get counts(): ExecCounts {
    return this.#counts;
  }

  get denials(): readonly Denial[] {
    return [...this.#denials.values()];
  }

  /** False if the journal could not take it: then nothing may start. */
  write(entry: ExecEntry): boolean {
    return this.writePrepared(this.prepare(entry), entry.pid, entry.ppid);
  }

  prepare(entry: ExecEntry): PreparedEntry {
    return { entry, json: this.#journal.enabled ? JSON.stringify(recordRest(entry)) : "" };
  }

  /** As `write`, for other processes than those that the entry was made for. */
  writePrepared({ entry, json }: PreparedEntry, pid: number, ppid: number): boolean {
    if (this.#journal.enabled) {
      const processes = `"session":${this.#session},"pid":${pid},"ppid":${ppid}`;
      const head = `{"v":${AUDIT_VERSION},"event":"${entry.event}","ts":${Date.now() / 1000}`;
      if (!this.#journal.writeJson(`${head},${processes},${json.slice(1)}`)) return false;
    }
    this.#counts[entry.action]++;
    if (entry.event === "exec-mismatch") this.#counts.mismatch++;
    if (entry.action === "deny") this.#noteDenial(entry);
    if (this.#trace !== null) this.#trace(traceLine({ ...entry, pid, ppid }));
    return true;
  }

  #noteDenial(entry: ExecEntry): void {
    const key = `${entry.ruleId}\0${entry.exe}\0${entry.argv[1] ?? ""}`;
    const seen = this.#denials.get(key);
    if (seen !== undefined) {
      seen.count++;
      return;
    }
    if (this.#denials.size >= DENIALS_MAX) return;
    const { exe, argv, reason } = entry;
    const realExe = entry.realExe ?? exe;
    this.#denials.set(key, { exe, realExe, argv, ruleId: entry.ruleId ?? "", reason, count: 1 });
  }
}

function recordRest(entry: ExecEntry): RecordRest {
  const bytes = rawBytes(entry);
  return {
    uid: entry.uid,
    exe: readable(entry.exe),
    real_exe: entry.realExe === null ? null : readable(entry.realExe),
    argv: entry.argv.map(readable),
    cwd: readable(entry.cwd),
    action: entry.action,
    rule_id: entry.ruleId,
    reason: entry.reason,
    ...(bytes === undefined ? {} : { bytes }),
  };
}

function traceLine(entry: ExecEntry): string {
  const argv = escapeControl(entry.argv.join(" ")).slice(0, TRACE_ARGV_CHARACTERS_MAX);
  const rule = entry.ruleId === null ? "" : ` rule=${entry.ruleId}`;
  const reason = entry.reason === "" ? "" : ` (${entry.reason})`;
  const exe = escapeControl(entry.exe);
  const head = `${entry.event} ${entry.action} pid=${entry.pid}`;
  return `${head} exe=${exe} argv=[${argv}]${rule}${reason}`;
}
