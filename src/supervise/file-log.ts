import { type Journal, readable } from "../audit/journal.ts";
import { AUDIT_VERSION } from "../audit/record.ts";
import { type FileNeed, suggestGrant } from "../plan/file-needs.ts";
import type { SealedHole } from "../plan/file-seal.ts";
import type { LandlockPlan } from "../plan/launch-plan.ts";
import { isBeneath } from "../plan/path-facts.ts";
import type { CallerStatus } from "./caller.ts";
import { textOf } from "./latin1-text.ts";

/** What a run that explains its denials has to know of its seal. */
export interface ExplainedSeal {
  readonly landlock: LandlockPlan;
  readonly holes: readonly SealedHole[];
}

export interface FileDenial {
  readonly path: string;
  readonly rights: readonly string[];
  readonly call: string;
  /** The line of policy that would allow it; null if a hole is in the way. */
  readonly grant: string | null;
  /** The glob of that hole. */
  readonly hole: string | null;
  count: number;
}

export interface FileLogOptions {
  readonly holes: readonly SealedHole[];
  readonly journalFailed: () => void;
}

const DENIALS_MAX = 100;

/** Records what Landlock denied: the journal, and the closing summary. */
export class FileLog {
  readonly #journal: Journal;
  readonly #session: string;
  readonly #options: FileLogOptions;
  readonly #denials = new Map<string, FileDenial>();

  constructor(journal: Journal, session: string, options: FileLogOptions) {
    this.#journal = journal;
    this.#session = session;
    this.#options = options;
  }

  get denials(): readonly FileDenial[] {
    return [...this.#denials.values()];
  }

  denied(need: FileNeed, call: string, status: CallerStatus): void {
    const path = textOf(need.path);
    const { key, glob } = suggestGrant({ ...need, path });
    const hole = this.#options.holes.find((each) => isBeneath(path, each.path))?.glob ?? null;
    const grant = hole === null ? `${key} = ["${glob}"]` : null;
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
      grant: grant === null ? null : readable(grant),
      hole,
    });
    if (!written) this.#options.journalFailed();
    const known = this.#denials.get(`${path}\0${grant}`);
    if (known !== undefined) known.count++;
    else if (this.#denials.size < DENIALS_MAX) {
      const denial = { path, rights: need.rights, call, grant, hole, count: 1 };
      this.#denials.set(`${path}\0${grant}`, denial);
    }
  }
}
