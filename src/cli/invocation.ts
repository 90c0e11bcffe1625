import type { CommandName, TopicName } from "./flags.ts";

export type ColorChoice = "auto" | "always" | "never";

/**
 * What the user asked for. Words that came from argv hold bytes losslessly (surrogateescape text,
 * see `policy/byte-text.ts`); nothing here may be trimmed, folded or re-encoded.
 */
export type Invocation =
  | RunInvocation
  | CheckInvocation
  | DoctorInvocation
  | HelpInvocation
  | VersionInvocation;

export interface RunInvocation {
  readonly command: "run";
  /** A path or `builtin:NAME`; null stands for the embedded default. */
  readonly policy: string | null;
  readonly audit: string | null;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly allow: readonly string[];
  readonly explainDenials: boolean;
  readonly waitAll: boolean;
  /** Ascending, without duplicates, each at least 3. */
  readonly keepFds: readonly number[];
  readonly color: ColorChoice;
  /** Never empty. */
  readonly argv: readonly string[];
}

export interface CheckInvocation {
  readonly command: "check";
  readonly policy: string | null;
  readonly json: boolean;
  readonly color: ColorChoice;
}

export interface DoctorInvocation {
  readonly command: "doctor";
  readonly json: boolean;
  readonly color: ColorChoice;
}

export interface HelpInvocation {
  readonly command: "help";
  /** Null is the front page. */
  readonly topic: CommandName | TopicName | null;
  readonly form: "short" | "full";
}

export interface VersionInvocation {
  readonly command: "version";
}

/** A command line that cannot be obeyed. Data only: `print-usage-error.ts` renders it. */
export interface UsageError {
  readonly message: string;
  /** How to fix it, as one sentence. */
  readonly hint: string | null;
  /** The whole corrected line, `faraday` first, where it can be guessed. */
  readonly correction: readonly string[] | null;
  /** Whose `--help` says more; null for the front page. */
  readonly command: CommandName | null;
}
