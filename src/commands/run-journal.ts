import { errnoName } from "../../ffi/abi/errno.ts";
import { AT_FDCWD, O_APPEND, O_CREAT, O_NOCTTY, O_WRONLY } from "../../ffi/abi/file.ts";
import { FileCalls } from "../../ffi/calls/file.ts";
import { Journal, readable } from "../audit/journal.ts";
import { AUDIT_VERSION, type AuditRecord, type EndRecord } from "../audit/record.ts";
import type { PreparedRun } from "../launch/prepare-run.ts";
import { textToBytes } from "../policy/byte-text.ts";
import { escapeControl } from "../policy/escape-control.ts";
import { journalSink } from "../supervise/journal-sink.ts";
import { LogKeeper } from "../supervise/log-keeper.ts";

/** Append only, so that two runs may share a log. */
const FLAGS = O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY;

export interface JournalHead {
  readonly session: string;
  readonly version: string;
  readonly argv: readonly string[];
}

const byteString = (text: string): string => Buffer.from(textToBytes(text)).toString("latin1");

function openJournal(path: string): number {
  const fd = new FileCalls().open(byteString(path), FLAGS, AT_FDCWD, 0o600);
  if (fd < 0) throw new Error(`${path}: ${errnoName(-fd)}`);
  return fd;
}

/** The first and the last record of a run; those between are the Worker's. */
export class RunJournal {
  readonly fd: number | null;
  readonly #journal: Journal;
  readonly #session: string;
  readonly #path: string | null;
  #keeper: LogKeeper | null = null;

  /** Throws if the file cannot be opened. */
  constructor(path: string | null, session: string) {
    this.fd = path === null ? null : openJournal(path);
    this.#journal = new Journal(this.fd === null ? null : journalSink(this.fd));
    this.#session = session;
    this.#path = path;
  }

  get failure(): string | null {
    return this.#journal.failure;
  }

  start(run: PreparedRun, head: JournalHead): boolean {
    const isWritten = this.#journal.write({
      v: AUDIT_VERSION,
      event: "start",
      ts: Date.now() / 1000,
      session: this.#session,
      faraday: head.version,
      runtime: `bun ${Bun.version}`,
      kernel: run.features.release,
      policy: {
        path: readable(run.loaded.path),
        sha256: run.loaded.sha256,
        bases: run.loaded.bases,
      },
      layers: { ...run.layers },
      pid: process.pid,
      uid: process.getuid?.() ?? -1,
      argv: head.argv.map(readable),
      cwd: process.cwd(),
    });
    if (this.#path !== null && this.fd !== null) {
      this.#keeper = new LogKeeper(byteString(this.#path), this.fd);
    }
    return isWritten;
  }

  /** To be called when the command is gone. A sentence, if the log was tampered with. */
  restore(): string | null {
    const what = this.#keeper?.restore(this.#session) ?? null;
    return what === null ? null : `the audit log ${escapeControl(this.#path ?? "")} ${what}`;
  }

  /** A record of the proxy's. */
  write(record: AuditRecord): boolean {
    return this.#journal.write(record);
  }

  /** An exec whose verdict did not come in time. Nothing is known of it but who made it. */
  timeout(tid: number): boolean {
    return this.#journal.write({
      v: AUDIT_VERSION,
      event: "exec",
      ts: Date.now() / 1000,
      session: this.#session,
      pid: tid,
      ppid: 0,
      uid: process.getuid?.() ?? -1,
      exe: "",
      real_exe: null,
      argv: [],
      cwd: "",
      action: "deny",
      rule_id: "builtin:timeout",
      reason: "on_supervisor_timeout_ms",
    });
  }

  end(record: Omit<EndRecord, "v" | "event" | "ts" | "session">): boolean {
    return this.#journal.write({
      v: AUDIT_VERSION,
      event: "end",
      ts: Date.now() / 1000,
      session: this.#session,
      ...record,
    });
  }
}
