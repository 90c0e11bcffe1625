import { painter, wantsColor } from "../cli/color.ts";
import type { DoctorInvocation } from "../cli/invocation.ts";
import type { TerminalIo } from "../cli/terminal-io.ts";
import { VERSION } from "../cli/version.ts";
import { probeMachine } from "../launch/probe-machine.ts";
import { doctorFindings, type Finding, type MachineFacts } from "../plan/doctor-findings.ts";

/** Raised only when a field changes its meaning or goes away; new fields do not count. */
const REPORT_VERSION = 1;

/** Says what of Faraday this machine can enforce; returns 1 if the default policy cannot be. */
export function runDoctor(invocation: DoctorInvocation, io: TerminalIo): number {
  const facts = probeMachine();
  const findings = doctorFindings(facts);
  const isFit = findings.every(({ state }) => state !== "missing");
  if (invocation.json) {
    io.stdout.write(`${JSON.stringify(report(facts, findings, isFit))}\n`);
  } else {
    const color = wantsColor(invocation.color, io.stdout, io.env);
    io.stdout.write(text(findings, isFit, { color }));
  }
  return isFit ? 0 : 1;
}

function report(facts: MachineFacts, findings: readonly Finding[], isFit: boolean): object {
  return {
    v: REPORT_VERSION,
    ok: isFit,
    faraday: VERSION,
    kernel: facts.release,
    arch: facts.arch,
    landlock_abi: facts.landlockAbi,
    checks: findings,
  };
}

function text(
  findings: readonly Finding[],
  isFit: boolean,
  options: { readonly color: boolean },
): string {
  const paint = painter(options);
  const width = Math.max(...findings.map(({ id }) => id.length));
  const lines = findings.map(({ id, state, value, cost }) => {
    const padded = state.padEnd("missing".length);
    const mark = state === "missing" ? paint("error", padded) : padded;
    return `${mark}  ${id.padEnd(width)}  ${value}${cost === null ? "" : `: ${cost}`}`;
  });
  const verdict = isFit
    ? "everything that the default policy needs is here"
    : "the default policy cannot be enforced here";
  return `${[...lines, "", verdict].join("\n")}\n`;
}
