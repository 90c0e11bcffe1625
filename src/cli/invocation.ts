import type { CommandName, Shell, TopicName } from "./flags.ts";
import type { PolicyName, ProfileName } from "./profile-names.ts";

export type ColorChoice = "auto" | "always" | "never";

/**
 * What the user asked for. Words that came from argv hold bytes losslessly (surrogateescape text,
 * see `policy/byte-text.ts`); nothing here may be trimmed, folded or re-encoded.
 */
export type Invocation =
  | RunInvocation
  | CheckInvocation
  | ExplainInvocation
  | LogInvocation
  | ProfilesInvocation
  | InitInvocation
  | DoctorInvocation
  | SelftestInvocation
  | CompletionsInvocation
  | PrintInvocation
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
  readonly blockNet: boolean;
  readonly allowDomains: readonly string[];
  readonly denyDomains: readonly string[];
  readonly allowEndpoints: readonly string[];
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

/** What is asked about, each in its own terms. */
export type ExplainQuestion =
  /** Never empty. */
  | { readonly kind: "exec"; readonly argv: readonly string[] }
  | { readonly kind: "path"; readonly path: string; readonly access: "read" | "write" }
  | { readonly kind: "host"; readonly host: string }
  | { readonly kind: "url"; readonly url: string };

export interface ExplainInvocation {
  readonly command: "explain";
  readonly policy: string | null;
  readonly question: ExplainQuestion;
  readonly cwd: string | null;
  /** A program, or a whole command line. */
  readonly parent: string | null;
  readonly uid: number | null;
  readonly json: boolean;
  readonly color: ColorChoice;
}

export interface LogInvocation {
  readonly command: "log";
  /** `-` is standard input. */
  readonly path: string;
  readonly denied: boolean;
  readonly events: readonly string[];
  readonly rules: readonly string[];
  readonly sessions: readonly string[];
  readonly follow: boolean;
  readonly tree: boolean;
  readonly summary: boolean;
  readonly json: boolean;
  readonly color: ColorChoice;
}

export interface ProfilesInvocation {
  readonly command: "profiles";
  /** Null lists them. */
  readonly name: PolicyName | null;
  readonly json: boolean;
  readonly color: ColorChoice;
}

export interface InitInvocation {
  readonly command: "init";
  readonly profile: ProfileName;
  readonly force: boolean;
  readonly color: ColorChoice;
}

export interface SelftestInvocation {
  readonly command: "selftest";
  readonly json: boolean;
  readonly color: ColorChoice;
}

export interface CompletionsInvocation {
  readonly command: "completions";
  readonly shell: Shell;
}

/** Commands that print one text and look at nothing. */
export interface PrintInvocation {
  readonly command: "man" | "schema";
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
