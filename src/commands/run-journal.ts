import { errnoName } from "../../ffi/abi/errno.ts";
import { AT_FDCWD, O_APPEND, O_CREAT, O_NOCTTY, O_WRONLY } from "../../ffi/abi/file.ts";
import { FileCalls } from "../../ffi/calls/file.ts";
import { Journal, readable } from "../audit/journal.ts";
import { AUDIT_VERSION, type EndRecord } from "../audit/record.ts";
import type { PreparedRun } from "../launch/prepare-run.ts";
import { textToBytes } from "../policy/byte-text.ts";
import { journalSink } from "../supervise/journal-sink.ts";

/** Append only, so that two runs may share a log. */
const FLAGS = O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY;

export interface JournalHead {
  readonly session: string;
  readonly version: string;
  readonly argv: readonly string[];
}

function openJournal(path: string): number {
  const latin1 = Buffer.from(textToBytes(path)).toString("latin1");
  const fd = new FileCalls().open(latin1, FLAGS, AT_FDCWD, 0o600);
  if (fd < 0) throw new Error(`${path}: ${errnoName(-fd)}`);
  return fd;
}

/** The first and the last record of a run; those between are the Worker's. */
export class RunJournal {
  readonly fd: number | null;
  readonly #journal: Journal;
  readonly #session: string;

  /** Throws if the file cannot be opened. */
  constructor(path: string | null, session: string) {
    this.fd = path === null ? null : openJournal(path);
    this.#journal = new Journal(this.fd === null ? null : journalSink(this.fd));
    this.#session = session;
  }

  get failure(): string | null {
    return this.#journal.failure;
  }

  start(run: PreparedRun, head: JournalHead): boolean {
    return this.#journal.write({
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
