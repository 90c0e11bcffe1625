import type { Judgement } from "./exec-judge.ts";
import type { PreparedEntry } from "./exec-log.ts";
import type { ProgramFile } from "./program-file.ts";

/** Everything that a verdict and its record are made from, as it came from caller and kernel. */
export interface ExecInputs {
  /** As the caller wrote it. */
  readonly path: string;
  readonly cwd: string;
  readonly uid: number;
  readonly cmdline: string;
}

/** What came of an exec, for the next one of the very same inputs. */
export interface RememberedExec {
  readonly invoked: string;
  readonly argv: readonly string[];
  readonly cmdline: Buffer;
  readonly judgement: Judgement;
  readonly entry: PreparedEntry;
}

const REMEMBERED_MAX = 512;
const KEY_CHARACTERS_MAX = 2048;

/**
 * Remembers allowed execs. A policy is a pure function, so the same program (its name, and the
 * unchanged file behind it) with the same arguments, directory and user gets the same verdict.
 */
export class ExecMemory {
  readonly #known = new Map<string, RememberedExec>();

  /** Names one case for good: no field can hold a NUL but the last. */
  static key(inputs: ExecInputs, file: ProgramFile): string {
    const { id, changed } = file.stat;
    const { path, cwd, uid, cmdline } = inputs;
    return `${path}\0${file.realPath}\0${file.kind}\0${id}\0${changed}\0${cwd}\0${uid}\0${cmdline}`;
  }

  get(key: string): RememberedExec | undefined {
    return this.#known.get(key);
  }

  remember(key: string, exec: RememberedExec): void {
    if (key.length > KEY_CHARACTERS_MAX) return;
    if (this.#known.size >= REMEMBERED_MAX) this.#known.clear();
    this.#known.set(key, exec);
  }
}
