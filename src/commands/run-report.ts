import { errnoName } from "../../ffi/abi/errno.ts";
import { type Paint, painter, wantsColor } from "../cli/color.ts";
import type { RunInvocation } from "../cli/invocation.ts";
import { renderDiagnostics } from "../cli/render-diagnostic.ts";
import { processIo } from "../cli/terminal-io.ts";
import type { PreparedRun } from "../launch/prepare-run.ts";
import type { Refusal } from "../launch/refusal.ts";
import { changePlace } from "../policy/change-place.ts";
import type { Diagnostic } from "../policy/diagnostic.ts";
import { escapeControl } from "../policy/escape-control.ts";
import type { Policy } from "../policy/model.ts";
import { permitRule } from "../policy/permit-rule.ts";
import type { Denial } from "../supervise/exec-log.ts";

const SHOWN_MAX = 5;
const COMMAND_CHARACTERS_MAX = 120;

/** Why nothing was started. */
export function reportRefusal(refusal: Refusal, invocation: RunInvocation): void {
  const io = processIo();
  const color = wantsColor(invocation.color, io.stderr, io.env);
  if (refusal.diagnostics.length > 0) {
    io.stderr.write(renderDiagnostics(refusal.diagnostics, { color }));
  }
  io.stderr.write(`faraday: ${escapeControl(refusal.message)}\n`);
  if (refusal.hint !== null)
    io.stderr.write(`${painter({ color })("hint", "hint")}: ${refusal.hint}\n`);
}

/** What a grant comes to where that is not what it says. */
export function reportWarnings(warnings: readonly Diagnostic[]): void {
  const lines = warnings.map(({ message }) => `faraday: ${escapeControl(message)}\n`);
  processIo().stderr.write(lines.join(""));
}

export interface RunEnd {
  readonly run: PreparedRun;
  readonly invocation: RunInvocation;
  readonly denials: readonly Denial[];
  readonly execErrno: number | null;
  readonly journalFailure: string | null;
}

/** What was stopped, by which rule, and what would allow it. */
export function reportEnd(end: RunEnd): void {
  const io = processIo();
  const paint = painter({ color: wantsColor(end.invocation.color, io.stderr, io.env) });
  const lines: string[] = [];
  if (end.execErrno !== null && end.denials.length === 0) {
    const name = escapeControl(end.invocation.argv[0] ?? "");
    lines.push(`faraday: ${name}: cannot be executed: ${errnoName(end.execErrno)}`);
  }
  if (end.denials.length > 0) lines.push(...denialLines(end, paint));
  if (end.journalFailure !== null) {
    const why = escapeControl(end.journalFailure);
    lines.push(
      `faraday: the audit log could not be written, so the run was ended: ${why}`,
      `${paint("hint", "hint")}: free space, or set \`[audit] on_error = "continue"\``,
    );
  }
  io.stderr.write(lines.map((line) => `${line}\n`).join(""));
}

function denialLines({ denials, run }: RunEnd, paint: Paint): string[] {
  const total = denials.reduce((sum, { count }) => sum + count, 0);
  const { policy } = run.loaded;
  const lines = [`faraday: ${paint("error", "denied")} ${total} program ${plural(total, "start")}`];
  for (const denial of denials.slice(0, SHOWN_MAX)) {
    lines.push(`  ${commandText(denial)}${denial.count > 1 ? ` (${denial.count} times)` : ""}`);
    lines.push(`    ${ruleText(policy, denial)}`);
  }
  if (denials.length > SHOWN_MAX) lines.push(`  and ${denials.length - SHOWN_MAX} more`);
  const [first] = denials;
  if (first === undefined || first.ruleId.startsWith("builtin:")) return lines;
  lines.push(
    `${paint("hint", "hint")}: to allow the first, put this ${changePlace(policy, first.ruleId)}:`,
  );
  for (const line of permitRule(first.realExe, first.argv))
    lines.push(`    ${escapeControl(line)}`);
  return lines;
}

function plural(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`;
}

function commandText({ exe, argv }: Denial): string {
  const text = escapeControl([exe, ...argv.slice(1)].join(" "));
  return text.length > COMMAND_CHARACTERS_MAX ? `${text.slice(0, COMMAND_CHARACTERS_MAX)}…` : text;
}

function ruleText(policy: Policy, { ruleId, reason }: Denial): string {
  const span = policy.rules.find(({ id }) => id === ruleId)?.span;
  const place = span === undefined ? "" : ` (${escapeControl(span.file)}:${span.line})`;
  const why = reason === "" ? "" : `: ${escapeControl(reason)}`;
  if (ruleId === "default") return `no rule matched${why}`;
  return `rule ${ruleId}${place}${why}`;
}
