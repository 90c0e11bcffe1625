import { type Paint, painter } from "../cli/color.ts";
import { quoteWords } from "../cli/quote-words.ts";
import type { PathAccess, PathAnswer, PathReason } from "../plan/explain-path.ts";
import { changePlace } from "../policy/change-place.ts";
import type { Miss } from "../policy/compile-rule.ts";
import type { Span } from "../policy/diagnostic.ts";
import { escapeControl } from "../policy/escape-control.ts";
import type { Policy } from "../policy/model.ts";
import type { ExecAnswer } from "./explain-exec.ts";

/** Raised only when a field changes its meaning or goes away; new fields do not count. */
const REPORT_VERSION = 1;
const VALUES_CHARACTERS_MAX = 48;
const COMMAND_CHARACTERS_MAX = 120;

export interface Rendering {
  readonly policy: Policy;
  readonly color: boolean;
}

const placeOf = (span: Span | null | undefined) =>
  span == null ? null : { file: span.file, line: span.line };
const placeText = (span: Span | null | undefined): string =>
  span == null ? "" : escapeControl(`${span.file}:${span.line}`);

export function execReport(
  { verdict, request, isMissing, through, explanation, change }: ExecAnswer,
  file: PathAnswer | null,
  { policy }: Rendering,
): object {
  return {
    v: REPORT_VERSION,
    ok: true,
    question: "exec",
    action: file?.action === "deny" ? "deny" : verdict.action,
    policy: policy.name,
    rule_id: verdict.ruleId,
    reason: verdict.reason,
    place: placeOf(ruleSpan(policy, verdict.ruleId)),
    exe: request.exe,
    real_exe: request.realExe,
    found: !isMissing,
    through,
    argv: request.argv,
    cwd: request.cwd,
    uid: request.uid,
    parent: request.parent === null ? null : request.parent.argv,
    passed_over: explanation.passedOver.map(({ rule, miss }) => ({
      rule_id: rule.id,
      place: placeOf(rule.span),
      key: miss === null ? null : keyOf(miss),
    })),
    files: file === null ? null : file.action,
    change: change === null ? null : change.join("\n"),
  };
}

export function execText(
  answer: ExecAnswer,
  file: PathAnswer | null,
  { policy, color }: Rendering,
): string {
  const { verdict, request, change } = answer;
  const paint = painter({ color });
  const isAllowed = verdict.action === "allow" && file?.action !== "deny";
  const lines = [`${mark(isAllowed, paint)}  ${commandText(request.argv)}`];
  lines.push(...programLines(answer));
  const span = ruleSpan(policy, verdict.ruleId);
  const place = span === undefined ? "" : ` (${placeText(span)})`;
  const decided = verdict.ruleId === "default" ? "no rule matched" : `rule ${verdict.ruleId}`;
  lines.push(`  ${decided}${place}: ${escapeControl(verdict.reason)}`);
  if (file?.action === "deny") {
    lines.push(`  ${paint("error", "but")} the file grants do not let it be started`);
    lines.push(...reasonLines(file, "execute", paint));
  }
  lines.push(...passedOverLines(answer, paint));
  if (change !== null && file?.action !== "deny") {
    const turn = verdict.action === "allow" ? "deny" : "allow";
    const where = changePlace(policy, verdict.ruleId);
    lines.push(`${paint("hint", "hint")}: to ${turn} it, put this ${where}:`);
    for (const line of change) lines.push(`    ${escapeControl(line)}`);
  }
  return `${lines.join("\n")}\n`;
}

const ruleSpan = (policy: Policy, ruleId: string): Span | undefined =>
  policy.rules.find(({ id }) => id === ruleId)?.span;

function mark(isAllowed: boolean, paint: Paint): string {
  return isAllowed ? paint("bold", "allow") : paint("error", "deny");
}

function commandText(argv: readonly string[]): string {
  const text = quoteWords(argv);
  return text.length > COMMAND_CHARACTERS_MAX ? `${text.slice(0, COMMAND_CHARACTERS_MAX)}…` : text;
}

function programLines({ request, isMissing, through }: ExecAnswer): string[] {
  const { exe, realExe } = request;
  if (isMissing) return [`  ${escapeControl(exe)}: not found here, so judged by its name alone`];
  const real = realExe === null || realExe === exe ? "" : `, which is ${escapeControl(realExe)}`;
  const own = `${escapeControl(exe)}${real}`;
  return through === null ? [`  ${own}`] : [`  ${escapeControl(through)} is started by ${own}`];
}

function passedOverLines({ explanation }: ExecAnswer, paint: Paint): string[] {
  const { passedOver } = explanation;
  if (passedOver.length === 0) return [];
  const rows = passedOver.map(({ rule, miss }) => [
    rule.id,
    placeText(rule.span),
    miss === null ? "matches" : missText(miss),
  ]);
  const width = (at: number): number => Math.max(...rows.map((row) => row[at]?.length ?? 0));
  const [ids, places] = [width(0), width(1)];
  return [
    `  rules above that did not match:`,
    ...rows.map(
      ([id = "", place = "", why = ""]) =>
        `    ${id.padEnd(ids)}  ${paint("faint", place.padEnd(places))}  ${why}`,
    ),
  ];
}

function keyOf(miss: Miss): string {
  if ("kind" in miss) return miss.kind;
  return miss.condition.negated ? `${miss.condition.key}_not` : miss.condition.key;
}

function missText(miss: Miss): string {
  if ("kind" in miss) return `does not name a ${miss.kind} program`;
  const { values } = miss.condition;
  const list = values.length === 1 ? JSON.stringify(values[0]) : JSON.stringify(values);
  const short =
    list.length > VALUES_CHARACTERS_MAX ? `${list.slice(0, VALUES_CHARACTERS_MAX)}…` : list;
  return `${keyOf(miss)} = ${escapeControl(short)}`;
}

export function pathReport(
  answer: PathAnswer | null,
  access: PathAccess,
  { policy }: Rendering,
): object {
  const head = { v: REPORT_VERSION, ok: true, question: "path", policy: policy.name, access };
  if (answer === null) return { ...head, action: "allow", sealed: false };
  const { action, realPath, exists, missing, reason, change } = answer;
  const hasPlace = reason.kind === "grant" || reason.kind === "hole";
  return {
    ...head,
    action,
    sealed: true,
    path: realPath,
    exists,
    missing_rights: missing,
    reason: reason.kind,
    key: hasPlace ? reason.key : null,
    glob: hasPlace ? reason.glob : null,
    place: hasPlace ? placeOf(reason.span) : null,
    change,
  };
}

export function pathText(
  answer: PathAnswer | null,
  access: PathAccess,
  { policy, color }: Rendering,
): string {
  const paint = painter({ color });
  if (answer === null) {
    const name = escapeControl(policy.name);
    return `${mark(true, paint)}  ${access}\n  ${name} has no [filesystem]: files are not sealed\n`;
  }
  const { action, exists, realPath } = answer;
  const what = !exists && access === "write" ? "create" : access;
  const head = `${mark(action === "allow", paint)}  ${what} ${escapeControl(realPath)}`;
  return `${[head, ...reasonLines(answer, access, paint)].join("\n")}\n`;
}

function reasonLines(answer: PathAnswer, access: PathAccess, paint: Paint): string[] {
  const lines = [`  ${reasonText(answer.reason, access)}`];
  if (!answer.exists && access !== "write") lines.push("  there is no such file now");
  if (answer.change !== null) {
    lines.push(`${paint("hint", "hint")}: this line below [filesystem] would allow it:`);
    lines.push(`    ${escapeControl(answer.change)}`);
  }
  return lines;
}

function reasonText(reason: PathReason, access: PathAccess): string {
  switch (reason.kind) {
    case "grant":
      return `granted by ${reason.key}: "${escapeControl(reason.glob)}"${at(reason.span)}`;
    case "bootstrap":
      return `granted to every command: ${reason.path} (bootstrap reads)`;
    case "hole":
      return `it lies in ${reason.key}: "${escapeControl(reason.glob)}"${at(reason.span)}`;
    case "beside-hole":
      return (
        `${escapeControl(reason.directory)} holds a hole with a wildcard: ` +
        "only what is in it now is granted"
      );
    case "not-granted":
      return `no grant covers it for ${access === "execute" ? "starting" : access}`;
    default:
      return reason satisfies never;
  }
}

const at = (span: Span | null): string => (span === null ? "" : ` (${placeText(span)})`);
