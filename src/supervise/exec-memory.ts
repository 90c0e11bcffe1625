import { AT_FDCWD } from "../../ffi/abi/file.ts";
import type { FileCalls } from "../../ffi/calls/file.ts";
import type { Judgement } from "./exec-judge.ts";
import type { PreparedEntry } from "./exec-log.ts";
import { NOT_HELD, type ProgramFile } from "./program-file.ts";

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
  readonly inputs: ExecInputs;
  readonly invoked: string;
  readonly argv: readonly string[];
  readonly cmdline: Buffer;
  /** As it was when it was judged. */
  readonly file: ProgramFile;
  readonly judgement: Judgement;
  readonly entry: PreparedEntry;
}

const REMEMBERED_MAX = 512;
const KEY_CHARACTERS_MAX = 2048;

/**
 * Remembers allowed execs. A policy is a pure function, so the same program (its name, and the
 * unchanged file behind it) with the same arguments, directory and user gets the same verdict.
 *
 * For execs that are verified only: the file is looked at, but neither held nor asked for its real
 * name. That is compared when it has started, and what has been moved meanwhile is judged anew.
 */
export class ExecMemory {
  readonly #files: FileCalls;
  readonly #known = new Map<string, RememberedExec>();
  /** The same program is often started many times in a row. */
  #latest: RememberedExec | undefined;

  constructor(files: FileCalls) {
    this.#files = files;
  }

  /** What came of it last time, if the path still leads to the same file. */
  get(inputs: ExecInputs): RememberedExec | undefined {
    const known = this.#find(inputs);
    if (known === undefined) return undefined;
    const { path, cwd } = inputs;
    const absolute = path.startsWith("/") ? path : `${cwd}/${path}`;
    const now = this.#files.stat(AT_FDCWD, absolute, 0);
    const { id, changed } = known.file.stat;
    return now?.id === id && now.changed === changed ? known : undefined;
  }

  #find(inputs: ExecInputs): RememberedExec | undefined {
    if (this.#latest !== undefined && isSame(this.#latest.inputs, inputs)) return this.#latest;
    const known = this.#known.get(keyOf(inputs));
    if (known !== undefined) this.#latest = known;
    return known;
  }

  remember(exec: RememberedExec): void {
    const key = keyOf(exec.inputs);
    if (key.length > KEY_CHARACTERS_MAX) return;
    if (this.#known.size >= REMEMBERED_MAX) this.#known.clear();
    const { path, cwd, uid, cmdline } = exec.inputs;
    const file = { ...exec.file, fd: NOT_HELD };
    this.#latest = undefined;
    this.#known.set(key, { ...exec, inputs: { path, cwd, uid, cmdline }, file });
  }
}

function isSame(one: ExecInputs, other: ExecInputs): boolean {
  if (one.path !== other.path || one.cmdline !== other.cmdline) return false;
  return one.cwd === other.cwd && one.uid === other.uid;
}

/** Names one case for good: no field can hold a NUL but the last. */
function keyOf({ path, cwd, uid, cmdline }: ExecInputs): string {
  return `${path}\0${cwd}\0${uid}\0${cmdline}`;
}
