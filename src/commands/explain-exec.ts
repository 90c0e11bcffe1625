import { FileCalls } from "../../ffi/calls/file.ts";
import { findCommand } from "../launch/find-command.ts";
import { bytesToText, textToBytes } from "../policy/byte-text.ts";
import { type CompiledPolicy, compilePolicy } from "../policy/compile-policy.ts";
import { type Explanation, explainVerdict } from "../policy/explain-verdict.ts";
import type { Policy } from "../policy/model.ts";
import { permitRule } from "../policy/permit-rule.ts";
import { findProgram } from "../policy/read-test.ts";
import type { ExecRequest, ParentIdentity, Verdict } from "../policy/request.ts";
import { ExecJudge } from "../supervise/exec-judge.ts";
import { findKnownFiles, nameTrust } from "../supervise/name-trust.ts";
import { ProgramFinder } from "../supervise/program-file.ts";

export interface ExecQuestion {
  readonly policy: Policy;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly uid: number;
  readonly parent: ParentIdentity | null;
  readonly searchPath: string | undefined;
  /** One character a byte; empty where files are not sealed. */
  readonly writableTrees: readonly string[];
}

export interface ExecAnswer {
  readonly verdict: Verdict;
  /** What decided: the program itself, or what would be started in its place. */
  readonly request: ExecRequest;
  /** The program was not found, so that it was judged by the name it would have. */
  readonly isMissing: boolean;
  /** The program as asked for, where something else decided (a `#!` interpreter). */
  readonly through: string | null;
  readonly explanation: Explanation;
  /** Lines of policy that would turn the verdict; null if no rule would. */
  readonly change: readonly string[] | null;
}

const latin1 = (text: string): string => Buffer.from(textToBytes(text)).toString("latin1");
const text = (bytes: string): string => bytesToText(Buffer.from(bytes, "latin1"));

/** Judges a command with the code that `run` judges it with. */
export function explainExec(question: ExecQuestion): ExecAnswer {
  const { policy } = question;
  const judged = judge(question, compilePolicy(policy));
  const { verdict, request } = judged;
  const explanation = { ...explainVerdict(policy, request), verdict };
  return { ...judged, explanation, change: turningRule(policy, request, verdict) };
}

type Judged = Pick<ExecAnswer, "verdict" | "request" | "isMissing" | "through">;

function judge(question: ExecQuestion, compiled: CompiledPolicy): Judged {
  const { argv, cwd, uid, parent } = question;
  const files = new FileCalls();
  const finder = new ProgramFinder(files);
  const words = argv.map(latin1);
  const base = latin1(cwd);
  const found = locate(words[0] ?? "", base, question.searchPath);
  const view = { tid: process.pid, tgid: process.pid };
  const file = found === null ? -1 : finder.find(found, view, base);
  if (found === null || typeof file === "number") {
    const exe = findProgram(argv[0] ?? "", cwd);
    const request: ExecRequest = { ...NO_FILE, exe, argv, cwd, uid, parent };
    return { verdict: compiled.decide(request), request, isMissing: true, through: null };
  }
  const seen: { request: ExecRequest; verdict: Verdict }[] = [];
  const recording: CompiledPolicy = {
    ...compiled,
    decide: (request) => {
      const verdict = compiled.decide(request);
      seen.push({ request, verdict });
      return verdict;
    },
  };
  const trust = nameTrust(findKnownFiles(compiled, files), question.writableTrees);
  const judgement = new ExecJudge(recording, files, finder, trust).judge(
    {
      view,
      invoked: finder.nameOf(found, view, base, null) ?? found,
      cwd: base,
      uid,
      parent,
      argv: words,
      cmdline: Buffer.from(`${words.join("\0")}\0`, "latin1"),
      file,
    },
    found,
    () => false,
  );
  finder.release(file);
  const { verdict } = judgement;
  const [first] = seen;
  const decided = seen.findLast((each) => each.verdict === verdict) ?? seen.at(-1);
  if (first === undefined || decided === undefined) throw new Error("nothing was judged");
  const through = decided === first ? null : first.request.exe;
  return { verdict, request: decided.request, isMissing: false, through };
}

/** An honest file of that name, as in a `[[test]]`. */
const NO_FILE = {
  realExe: null,
  realKind: "file",
  aliases: [],
  invokedIsPlantable: false,
  realIsPlantable: false,
  parentIsPlantable: false,
} as const;

/** As `run` looks it up, but from the directory that is asked about. */
function locate(name: string, cwd: string, searchPath: string | undefined): string | null {
  if (name.includes("/")) {
    const path = name.startsWith("/") ? name : `${cwd}/${name}`;
    return findCommand(path, undefined).kind === "missing" ? null : path;
  }
  const found = findCommand(name, searchPath);
  if (found.kind === "missing") return null;
  return found.path.startsWith("/") ? found.path : `${cwd}/${found.path}`;
}

/** The narrowest rule, if it does turn the verdict: names that prove nothing allow nothing. */
function turningRule(
  policy: Policy,
  request: ExecRequest,
  verdict: Verdict,
): readonly string[] | null {
  if (verdict.ruleId.startsWith("builtin:")) return null;
  const action = verdict.action === "allow" ? "deny" : "allow";
  const exe = request.realExe ?? request.exe;
  const span = { file: policy.name, line: 0, column: 0, length: 1, text: "" };
  const condition = { key: "exe", negated: false, values: [exe], span } as const;
  const rule = { id: "turn", action, reason: "", conditions: [condition], span } as const;
  const turned = compilePolicy({ ...policy, rules: [rule, ...policy.rules] }).decide(request);
  return turned.action === action ? permitRule(exe, request.argv, action) : null;
}

/** `--parent '/usr/bin/make all'`: a program, and its arguments if there are any. */
export function parentOf(
  command: string,
  cwd: string,
  searchPath: string | undefined,
): ParentIdentity {
  const argv = command.split(/\s+/).filter((word) => word !== "");
  const name = argv[0] ?? command;
  const found = locate(latin1(name), latin1(cwd), searchPath);
  const exe = found === null ? findProgram(name, cwd) : text(found);
  return { exe, argv, trusted: true };
}
