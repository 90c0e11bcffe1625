import { type Journal, readable } from "../audit/journal.ts";
import { AUDIT_VERSION } from "../audit/record.ts";
import type { CallerStatus } from "./caller.ts";

/** A call on a socket that was refused. */
export interface RefusedCall {
  readonly call: "connect" | "bind" | "listen";
  /** An address, or the path or name of a unix socket. */
  readonly target: string;
  readonly port: number | null;
  readonly reason: string;
  /** The line of policy that would allow it, where one would. */
  readonly grant: string | null;
}

export interface SocketDenial extends RefusedCall {
  count: number;
}

const DENIALS_MAX = 100;

/** Records what the pin refused: the journal, and the closing summary. */
export class SocketLog {
  readonly #journal: Journal;
  readonly #session: string;
  readonly #journalFailed: () => void;
  readonly #denials = new Map<string, SocketDenial>();

  constructor(journal: Journal, session: string, journalFailed: () => void) {
    this.#journal = journal;
    this.#session = session;
    this.#journalFailed = journalFailed;
  }

  get denials(): readonly SocketDenial[] {
    return [...this.#denials.values()];
  }

  denied(refused: RefusedCall, status: CallerStatus | null, tid: number): void {
    const { call, target, port, reason, grant } = refused;
    const written = this.#journal.write({
      v: AUDIT_VERSION,
      event: "net",
      ts: Date.now() / 1000,
      session: this.#session,
      layer: "kernel",
      pid: status?.tgid ?? tid,
      ppid: status?.ppid ?? 0,
      uid: status?.uid ?? -1,
      call,
      host: readable(target),
      port,
      action: "deny",
      rule_id: "builtin:kernel-pin",
      reason,
      grant: grant === null ? null : readable(grant),
    });
    if (!written) this.#journalFailed();
    const key = `${call}\0${target}\0${port}`;
    const known = this.#denials.get(key);
    if (known !== undefined) known.count++;
    else if (this.#denials.size < DENIALS_MAX) this.#denials.set(key, { ...refused, count: 1 });
  }
}
