import { S_IFMT, S_IFREG } from "../../ffi/abi/file.ts";
import type { Verdict } from "../policy/request.ts";
import type { CallerReader } from "./caller.ts";
import { deny, type ExecFacts, type ExecJudge } from "./exec-judge.ts";
import { type ExecLog, execEntry } from "./exec-log.ts";
import type { PendingExec, VerifierEvents } from "./exec-verifier.ts";
import { textOf } from "./latin1-text.ts";
import { holdMapped, type MappedFile } from "./mapped-files.ts";
import type { ProcessIdentities } from "./process-identities.ts";
import type { ProgramFinder } from "./program-file.ts";
import type { StartedProgram } from "./started-program.ts";

export interface MismatchJudgeParts {
  readonly judge: ExecJudge;
  readonly finder: ProgramFinder;
  readonly log: ExecLog;
  readonly identities: ProcessIdentities;
  readonly callers: CallerReader;
  /** Whether any rule looks at parents. */
  readonly remembers: boolean;
  readonly expired: () => boolean;
  readonly journalFailed: () => boolean;
  readonly starting: () => void;
}

/** Five interpreters of interpreters, each with one argument of its own. */
const SCRIPT_WORDS_MAX = 10;
const ANY_EXECUTE = 0o111;

/**
 * Judges what was found running when it is not what was judged before: the caller's memory, files
 * or directory changed in between. What would have been allowed anyway may go on.
 */
export class MismatchJudge implements VerifierEvents {
  readonly #parts: MismatchJudgeParts;

  constructor(parts: MismatchJudgeParts) {
    this.#parts = parts;
  }

  confirmed({ facts }: PendingExec, pid: number): void {
    if (!this.#parts.remembers) return;
    this.#parts.identities.remember(pid, textOf(facts.file.realPath), facts.argv.map(textOf));
  }

  mismatched(pending: PendingExec, pid: number, started: StartedProgram | null): boolean {
    this.#parts.starting();
    if (started === null) {
      // Killed meanwhile, it has nothing left to look at, and nothing to be denied.
      if (this.#parts.callers.isExiting(pid)) return false;
      const reason = "it cannot be told what was started";
      this.#write(pending.facts, pid, deny("builtin:unverifiable", reason));
      return false;
    }
    const facts = startedFacts(pending.facts, started);
    const { file } = pending.facts;
    // Of a script that was judged, what started is always another file: its interpreter.
    const isOther =
      started.file.stat.id !== file.stat.id ||
      !started.cmdline.equals(pending.judgement.expectedCmdline);
    const verdict = this.#verdict(facts, started, isOther);
    this.#parts.finder.release(started.file);
    const written = this.#write(facts, pid, verdict);
    if (verdict.action === "deny" || !written) return false;
    if (this.#parts.remembers) {
      this.#parts.identities.remember(pid, textOf(facts.file.realPath), facts.argv.map(textOf));
    }
    return true;
  }

  loaded({ facts }: PendingExec, pid: number, mapped: MappedFile): boolean {
    this.#parts.starting();
    const { finder, judge, expired } = this.#parts;
    const program = holdMapped(finder, mapped, facts.view);
    if (typeof program === "number") {
      const reason = "the program that a dynamic loader mapped cannot be found again";
      this.#write(facts, pid, deny("builtin:loader", reason));
      return false;
    }
    const verdict = judge.judgeLoaded(facts, program, expired);
    finder.release(program);
    if (verdict.action === "allow") return true;
    this.#write({ ...facts, invoked: program.realPath, file: program }, pid, verdict);
    return false;
  }

  #verdict(facts: ExecFacts, started: StartedProgram, isOther: boolean): Verdict {
    const { judge, finder, expired } = this.#parts;
    const { verdict: own, isLoading } = judge.judge(facts, facts.invoked, expired);
    if (own.action === "deny") return own;
    if (isLoading)
      return deny("builtin:loader", "a dynamic loader was started in place of another");
    const script = isOther ? this.#deniedScript(facts) : null;
    if (script !== null) return script;
    for (const mapped of started.interpreters) {
      const file = holdMapped(finder, mapped, facts.view);
      if (typeof file === "number") {
        return deny("builtin:unverifiable", "its ELF interpreter cannot be found again");
      }
      const invoked = file.realPath;
      const { verdict } = judge.judge({ ...facts, invoked, file }, invoked, expired);
      finder.release(file);
      if (verdict.action === "deny") return verdict;
    }
    return own;
  }

  /**
   * The kernel may have started this program as the interpreter of a script, whose name it then put
   * among the first arguments: every executable file there has to be permitted too.
   */
  #deniedScript(facts: ExecFacts): Verdict | null {
    const { judge, finder, expired } = this.#parts;
    for (const [index, word] of facts.argv.entries()) {
      if (index === 0 || word === "") continue;
      if (index > SCRIPT_WORDS_MAX) break;
      const file = finder.find(word, facts.view, facts.cwd);
      if (typeof file === "number") continue;
      const isProgram =
        (file.stat.mode & S_IFMT) === S_IFREG && (file.stat.mode & ANY_EXECUTE) !== 0;
      const invoked = finder.nameOf(word, facts.view, facts.cwd, file) ?? file.realPath;
      const argv = facts.argv.slice(index);
      const asScript = { ...facts, invoked, file, argv };
      const verdict = isProgram ? judge.judge(asScript, word, expired).verdict : null;
      finder.release(file);
      if (verdict?.action === "deny") return verdict;
    }
    return null;
  }

  #write(facts: ExecFacts, pid: number, verdict: Verdict): boolean {
    const ppid = this.#parts.callers.status(pid)?.ppid ?? 0;
    const entry = execEntry("exec-mismatch", { pid, ppid }, facts, verdict);
    const written = this.#parts.log.write(entry);
    return written || this.#parts.journalFailed();
  }
}

function startedFacts(asked: ExecFacts, started: StartedProgram): ExecFacts {
  return {
    ...asked,
    invoked: started.file.realPath,
    cwd: started.cwd,
    argv: started.argv,
    cmdline: started.cmdline,
    file: started.file,
  };
}
