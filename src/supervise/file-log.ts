import { type Journal, readable } from "../audit/journal.ts";
import { AUDIT_VERSION } from "../audit/record.ts";
import { type FileNeed, suggestGrant } from "../plan/file-needs.ts";
import type { CallerStatus } from "./caller.ts";
import { textOf } from "./latin1-text.ts";

export interface FileDenial {
  readonly path: string;
  readonly rights: readonly string[];
  readonly call: string;
  /** The line of policy that would allow it. */
  readonly grant: string;
  count: number;
}

const DENIALS_MAX = 100;

/** Records what Landlock denied: the journal, and the closing summary. */
export class FileLog {
  readonly #journal: Journal;
  readonly #session: string;
  readonly #journalFailed: () => void;
  readonly #denials = new Map<string, FileDenial>();

  constructor(journal: Journal, session: string, journalFailed: () => void) {
    this.#journal = journal;
    this.#session = session;
    this.#journalFailed = journalFailed;
  }

  get denials(): readonly FileDenial[] {
    return [...this.#denials.values()];
  }

  denied(need: FileNeed, call: string, status: CallerStatus): void {
    const path = textOf(need.path);
    const { key, glob } = suggestGrant({ ...need, path });
    const grant = `${key} = ["${glob}"]`;
    const written = this.#journal.write({
      v: AUDIT_VERSION,
      event: "file",
      ts: Date.now() / 1000,
      session: this.#session,
      pid: status.tgid,
      ppid: status.ppid,
      uid: status.uid,
      call,
      path: readable(path),
      rights: need.rights,
      action: "deny",
      grant: readable(grant),
    });
    if (!written) this.#journalFailed();
    const known = this.#denials.get(`${path}\0${grant}`);
    if (known !== undefined) known.count++;
    else if (this.#denials.size < DENIALS_MAX) {
      const denial = { path, rights: need.rights, call, grant, count: 1 };
      this.#denials.set(`${path}\0${grant}`, denial);
    }
  }
}
