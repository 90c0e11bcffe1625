import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The binary under test; a copy may be named so that a rebuild does not disturb a long run. */
export const FARADAY = resolve(
  Bun.env.FARADAY_BINARY ?? join(import.meta.dir, "../../dist/faraday"),
);

/** A run that takes longer hangs: it is killed, and the test fails. */
const RUN_TIMEOUT_MS = 60_000;

/** One line of the audit log; which fields there are depends on `event`. */
export interface AuditLine {
  readonly event: string;
  readonly action?: "allow" | "deny" | "error";
  readonly exe?: string;
  readonly real_exe?: string | null;
  readonly argv?: readonly string[];
  readonly cwd?: string;
  readonly pid?: number;
  readonly ppid?: number;
  readonly rule_id?: string | null;
  readonly reason?: string;
  readonly exit?: number;
  readonly signal?: number | null;
  readonly session?: string;
  readonly counts?: Readonly<Record<"allow" | "deny" | "error" | "mismatch", number>>;
  readonly leftovers?: { readonly count: number; readonly handled: string };
  readonly bytes?: {
    readonly exe?: string;
    readonly cwd?: string;
    readonly argv?: readonly string[];
  };
  readonly [key: string]: unknown;
}

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: Buffer;
  /** As a shell would say it: 128 + n for a death by signal n. */
  readonly exit: number;
}

export interface FaradayOutcome extends Outcome {
  readonly records: readonly AuditLine[];
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

export interface FaradayOptions extends CommandOptions {
  /** The text of the policy; without one the embedded default is in force. */
  readonly policy?: string;
  readonly flags?: readonly string[];
}

/** A place of its own for the files of one test file. */
export class Workplace {
  /** Without links, so that names in records can be compared. */
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), "faraday-test-")));
  #count = 0;

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  at(name: string): string {
    return join(this.path, name);
  }

  write(name: string, content: string | Uint8Array, mode = 0o644): string {
    const path = this.at(name);
    writeFileSync(path, content, { mode });
    return path;
  }

  /** A name that was not given out before. */
  fresh(suffix: string): string {
    return this.at(`${++this.#count}-${suffix}`);
  }

  /** Runs a command without Faraday: the control beside every denial. */
  bare(command: readonly string[], options: CommandOptions = {}): Promise<Outcome> {
    return runCommand(command, { cwd: this.path, ...options });
  }

  /** The words that run a command under a policy, for tests that start them in their own way. */
  faradayWords(
    command: readonly string[],
    options: { readonly policy?: string; readonly flags?: readonly string[] } = {},
  ): { readonly words: readonly string[]; readonly auditPath: string } {
    const auditPath = this.fresh("audit.jsonl");
    const policyFlags: string[] = [];
    if (options.policy !== undefined) {
      const path = this.fresh("policy.toml");
      writeFileSync(path, options.policy);
      policyFlags.push("--policy", path);
    }
    const flags = ["--audit", auditPath, ...policyFlags, ...(options.flags ?? [])];
    return { words: [FARADAY, "run", ...flags, "--", ...command], auditPath };
  }

  async faraday(command: readonly string[], options: FaradayOptions = {}): Promise<FaradayOutcome> {
    const { words, auditPath } = this.faradayWords(command, options);
    const outcome = await runCommand(words, { cwd: this.path, ...options });
    return { ...outcome, records: readRecords(auditPath) };
  }
}

export function readRecords(path: string): readonly AuditLine[] {
  // A run that was refused before it began has no log.
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AuditLine);
}

/** Runs a command to its end, and kills it by its id if that does not come. */
export async function runCommand(
  command: readonly string[],
  options: CommandOptions = {},
): Promise<Outcome> {
  const child = Bun.spawn([...command], {
    cwd: options.cwd ?? process.cwd(),
    env: { ...(options.env ?? { PATH: Bun.env.PATH ?? "", LANG: "C.UTF-8" }) },
    stdin: options.stdin === undefined ? "ignore" : Buffer.from(options.stdin),
    stdout: "pipe",
    stderr: "pipe",
  });
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    child.kill("SIGKILL");
  }, RUN_TIMEOUT_MS);
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).arrayBuffer(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  clearTimeout(timer);
  const exit = shellExit(child.exitCode, child.signalCode);
  if (hung) throw new Error(`hung, and was killed: ${command.join(" ")}\n${stderr}`);
  const stdoutBytes = Buffer.from(stdout);
  return { stdout: stdoutBytes.toString("utf8"), stderr, stdoutBytes, exit };
}

const SIGNAL_NUMBERS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
};

function shellExit(code: number | null, signal: string | number | null): number {
  if (code !== null) return code;
  return 128 + (typeof signal === "number" ? signal : (SIGNAL_NUMBERS[signal ?? ""] ?? 0));
}

/** Records of one program, by the last part of its name. */
export function recordsOf(records: readonly AuditLine[], baseName: string): readonly AuditLine[] {
  return records.filter(({ exe }) => exe?.slice(exe.lastIndexOf("/") + 1) === baseName);
}

export const actionsOf = (records: readonly AuditLine[], baseName: string): readonly string[] =>
  recordsOf(records, baseName).map(({ action }) => action ?? "");
