import { wantsColor } from "../cli/color.ts";
import type { ExplainInvocation } from "../cli/invocation.ts";
import { renderDiagnostics } from "../cli/render-diagnostic.ts";
import type { TerminalIo } from "../cli/terminal-io.ts";
import { DiskFacts, startDirectory } from "../launch/disk-facts.ts";
import { loadPolicy } from "../launch/load-policy.ts";
import { probeKernel } from "../launch/probe-kernel.ts";
import { explainPath, type PathAnswer } from "../plan/explain-path.ts";
import { type FileSeal, fileSeal } from "../plan/file-seal.ts";
import { grantRoots } from "../plan/grant-roots.ts";
import { absolutePath, type PathFacts } from "../plan/path-facts.ts";
import { textToBytes } from "../policy/byte-text.ts";
import type { Diagnostic } from "../policy/diagnostic.ts";
import { escapeControl } from "../policy/escape-control.ts";
import {
  explainNetwork,
  hostQuestion,
  type NetQuestion,
  urlQuestion,
} from "../policy/explain-network.ts";
import type { FilesystemPolicy, Policy } from "../policy/model.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { explainExec, parentOf } from "./explain-exec.ts";
import { isNetAllowed, netReport, netText } from "./explain-net-text.ts";
import { execReport, execText, pathReport, pathText, type Rendering } from "./explain-text.ts";

const EXIT_ALLOW = 0;
const EXIT_DENY = 1;
const EXIT_USAGE = 2;

/** Says how a policy judges something, and why; returns the exit code. */
export function runExplain(invocation: ExplainInvocation, io: TerminalIo): number {
  const loaded = loadPolicy(invocation.policy, { env: io.env, home: io.env("HOME") });
  if (!loaded.ok) return refuse(loaded.error, invocation, io);
  const { policy } = loaded.value;
  const cwd = absolutePath(invocation.cwd ?? ".", startDirectory());
  const sealed = sealOf(policy, cwd);
  if (!sealed.ok) return refuse(sealed.error, invocation, io);
  const rendering: Rendering = {
    policy,
    color: wantsColor(invocation.color, io.stdout, io.env),
  };
  const { question } = invocation;
  const context: Context = { invocation, io, rendering };
  switch (question.kind) {
    case "exec": {
      const searchPath = io.env("PATH");
      const answer = explainExec({
        policy,
        argv: question.argv,
        cwd,
        uid: invocation.uid ?? process.getuid?.() ?? 0,
        parent: invocation.parent === null ? null : parentOf(invocation.parent, cwd, searchPath),
        searchPath,
        writableTrees: sealed.value === null ? [] : sealed.value.seal.writable.map(latin1),
      });
      const program = answer.isMissing ? null : (answer.request.realExe ?? answer.request.exe);
      const file =
        sealed.value === null || program === null
          ? null
          : explainPath({ ...sealed.value, path: program, access: "execute" });
      const isAllowed = answer.verdict.action === "allow" && file?.action !== "deny";
      if (invocation.json) print(io, execReport(answer, file, rendering));
      else io.stdout.write(execText(answer, file, rendering));
      return isAllowed ? EXIT_ALLOW : EXIT_DENY;
    }
    case "path": {
      const { access } = question;
      const answer = pathAnswer(question.path, access, sealed.value, cwd, io);
      if (invocation.json) print(io, pathReport(answer, access, rendering));
      else io.stdout.write(pathText(answer, access, rendering));
      return answer === null || answer.action === "allow" ? EXIT_ALLOW : EXIT_DENY;
    }
    case "host":
      return explainConnection(hostQuestion(question.host), `--host ${question.host}`, context);
    case "url":
      return explainConnection(urlQuestion(question.url), `--url ${question.url}`, context);
    default:
      return question satisfies never;
  }
}

interface Context {
  readonly invocation: ExplainInvocation;
  readonly io: TerminalIo;
  readonly rendering: Rendering;
}

function explainConnection(
  question: Result<NetQuestion, string>,
  flag: string,
  { invocation, io, rendering }: Context,
): number {
  if (!question.ok) {
    io.stderr.write(`faraday: \`${escapeControl(flag)}\`: ${question.error}\n`);
    return EXIT_USAGE;
  }
  const { network } = rendering.policy;
  const answer = network === null ? null : explainNetwork(network, question.value);
  if (invocation.json) print(io, netReport(question.value, answer, rendering));
  else io.stdout.write(netText(question.value, answer, rendering));
  return answer === null || isNetAllowed(answer) ? EXIT_ALLOW : EXIT_DENY;
}

interface Sealed {
  readonly policy: FilesystemPolicy;
  readonly seal: FileSeal;
  readonly cwd: string;
  readonly facts: PathFacts;
}

/** The seal that `run` would make; null if the policy has none. */
function sealOf(policy: Policy, cwd: string): Result<Sealed | null, readonly Diagnostic[]> {
  const { filesystem } = policy;
  if (filesystem === null) return ok(null);
  const facts = filesystem.createMissing
    ? withCreated(new DiskFacts(), filesystem, cwd)
    : new DiskFacts();
  const { landlockAbi } = probeKernel();
  const seal = fileSeal({ policy: filesystem, landlockAbi, cwd, facts });
  if (!seal.ok) return seal;
  if (seal.value.landlock !== null) return ok({ policy: filesystem, seal: seal.value, cwd, facts });
  const message = `files cannot be sealed here: ${seal.value.state.missing.join("; ")}`;
  return err([{ severity: "error", code: "not-sealed", message, span: null, hint: null }]);
}

/** A run would make these directories first; asking a question must not. */
function withCreated(facts: DiskFacts, policy: FilesystemPolicy, cwd: string): PathFacts {
  const created = new Set(
    grantRoots(policy, cwd)
      .roots.filter(({ isTree, path }) => isTree && facts.look(path).kind === "missing")
      .map(({ path }) => facts.look(path).realPath),
  );
  return {
    list: facts.list,
    target: facts.target,
    foldsCase: facts.foldsCase,
    otherPlaces: facts.otherPlaces,
    sharedFile: facts.sharedFile,
    look: (path) => {
      const fact = facts.look(path);
      return created.has(fact.realPath) ? { ...fact, kind: "directory" } : fact;
    },
  };
}

function pathAnswer(
  given: string,
  access: "read" | "write",
  sealed: Sealed | null,
  cwd: string,
  io: TerminalIo,
): PathAnswer | null {
  if (sealed === null) return null;
  const home = io.env("HOME");
  const isHome = home !== undefined && (given === "~" || given.startsWith("~/"));
  const path = isHome ? `${home}${given.slice(1)}` : given;
  return explainPath({ ...sealed, path: foldDots(path, cwd), access });
}

/** `..` as text; a link on the way is what the disk makes of it. */
function foldDots(path: string, cwd: string): string {
  const parts: string[] = [];
  for (const part of absolutePath(path, cwd).split("/")) {
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return parts.join("/") || "/";
}

const latin1 = (text: string): string => Buffer.from(textToBytes(text)).toString("latin1");

function print(io: TerminalIo, report: object): void {
  io.stdout.write(`${JSON.stringify(report)}\n`);
}

/** A broken policy allows nothing. */
function refuse(
  diagnostics: readonly Diagnostic[],
  invocation: ExplainInvocation,
  io: TerminalIo,
): number {
  if (invocation.json) {
    const problems = diagnostics.map(({ code, message }) => ({ code, message }));
    print(io, { v: 1, ok: false, action: "deny", diagnostics: problems });
  } else {
    const color = wantsColor(invocation.color, io.stderr, io.env);
    io.stderr.write(renderDiagnostics(diagnostics, { color }));
    io.stderr.write(`faraday: ${escapeControl("the policy has errors: `run` starts nothing")}\n`);
  }
  return EXIT_DENY;
}
