/** Who asked: the parent as it was at its own verified exec, not what its memory says now. */
export interface ParentIdentity {
  readonly exe: string | null;
  readonly argv: readonly string[] | null;
  /**
   * False where argv could only be read from memory that the parent can rewrite. An allow then
   * never matches by parent_argv.
   */
  readonly trusted: boolean;
}

/** One execve as the policy sees it. Strings hold bytes losslessly (see `byte-text.ts`). */
export interface ExecRequest {
  /** The path as invoked, made absolute against the caller's directory, dot segments folded. */
  readonly exe: string;
  /**
   * The file that it really is, every link followed. `memfd:NAME` for a memfd, `/path (deleted)`
   * for a file without a name; null when unknown (a `[[test]]` that names only one path).
   */
  readonly realExe: string | null;
  /** What backs realExe: only `file` is started without a rule that names it. */
  readonly realKind: "file" | "memfd" | "deleted";
  /** Other names of the file (hard links of programs that deny rules name). Only denies look. */
  readonly aliases: readonly string[];
  /** True if the invoked name lies where the agent may write, so that it proves nothing. */
  readonly invokedIsPlantable: boolean;
  /** The same of the real file: a copy there proves nothing by its basename. */
  readonly realIsPlantable: boolean;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly uid: number;
  readonly parent: ParentIdentity | null;
  /** True if the parent's program lies where the agent may write: its last name proves nothing. */
  readonly parentIsPlantable: boolean;
}

export interface Verdict {
  readonly action: "allow" | "deny";
  /** The id of the rule, `default` for default_action, or a `builtin:` name. */
  readonly ruleId: string;
  readonly reason: string;
}
