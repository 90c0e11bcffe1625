import { FileCalls } from "../../ffi/calls/file.ts";
import { type CompiledPolicy, compilePolicy } from "../policy/compile-policy.ts";
import type { Policy } from "../policy/model.ts";
import { CallerReader } from "./caller.ts";
import { ExecJudge } from "./exec-judge.ts";
import { findKnownFiles, type KnownFiles, nameTrust } from "./name-trust.ts";
import { ProgramFinder } from "./program-file.ts";

/**
 * What the Worker can do as soon as it has the policy, while the main thread is still planning the
 * rest of the run.
 */
export class ReadyPolicy {
  readonly policy: Policy;
  readonly compiled: CompiledPolicy;
  readonly known: KnownFiles;
  readonly files = new FileCalls();
  readonly callers = new CallerReader(this.files);
  readonly finder = new ProgramFinder(this.files);

  constructor(policy: Policy) {
    this.policy = policy;
    this.compiled = compilePolicy(policy);
    this.known = findKnownFiles(this.compiled, this.files);
    this.#rehearse();
  }

  judge(writableTrees: readonly string[]): ExecJudge {
    const trust = nameTrust(this.known, writableTrees);
    return new ExecJudge(this.compiled, this.files, this.finder, trust);
  }

  /** Does once, for nothing, what every exec needs: code that runs for the first time is slow. */
  #rehearse(): void {
    const { finder, callers } = this;
    const view = { tid: process.pid, tgid: process.pid };
    const file = finder.find("/proc/self/exe", view, "/");
    if (typeof file === "number") return;
    const uid = callers.status(process.pid)?.uid ?? 0;
    const cwd = callers.cwd(process.pid) ?? "/";
    const facts = {
      view,
      invoked: finder.nameOf("/bin/sh", view, cwd, null) ?? file.realPath,
      cwd,
      uid,
      parent: null,
      argv: ["sh"],
      cmdline: Buffer.from("sh\0"),
      file,
    };
    this.judge([]).judge(facts, facts.invoked, () => false);
    finder.release(file);
  }
}
