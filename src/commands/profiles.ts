import { painter, wantsColor } from "../cli/color.ts";
import type { ProfilesInvocation } from "../cli/invocation.ts";
import {
  PARTS,
  POLICY_NAMES,
  type PolicyName,
  PROFILE_NAMES,
  PROFILES,
} from "../cli/profile-names.ts";
import type { TerminalIo } from "../cli/terminal-io.ts";
import { BUILTIN_PREFIX } from "../launch/builtin-names.ts";
import { BUILTIN_POLICIES } from "../launch/builtin-policies.ts";

/** Raised only when a field changes its meaning or goes away; new fields do not count. */
const REPORT_VERSION = 1;

const SUMMARIES: Readonly<Record<PolicyName, string>> = { ...PROFILES, ...PARTS };

/** Lists the embedded policies, or prints one; returns the exit code. */
export function runProfiles(invocation: ProfilesInvocation, io: TerminalIo): number {
  const { name, json } = invocation;
  if (json) io.stdout.write(`${JSON.stringify(report(name))}\n`);
  else if (name !== null) io.stdout.write(textOf(name));
  else io.stdout.write(list(wantsColor(invocation.color, io.stdout, io.env)));
  return 0;
}

function textOf(name: PolicyName): string {
  const text = BUILTIN_POLICIES[name];
  if (text === undefined) throw new Error(`the profile ${name} is not embedded`);
  return text;
}

function report(name: PolicyName | null): object {
  const describe = (each: PolicyName) => ({
    name: each,
    policy: BUILTIN_PREFIX + each,
    summary: SUMMARIES[each],
  });
  if (name === null) return { v: REPORT_VERSION, profiles: PROFILE_NAMES.map(describe) };
  return { v: REPORT_VERSION, ...describe(name), text: textOf(name) };
}

function list(color: boolean): string {
  const paint = painter({ color });
  const width = Math.max(...POLICY_NAMES.map((name) => name.length));
  const line = (name: PolicyName): string =>
    `${paint("bold", name.padEnd(width))}  ${SUMMARIES[name]}`;
  const parts = POLICY_NAMES.filter((name) => name in PARTS);
  const middle = ["", "parts of them, to extend:", ""];
  const end = ["", "use a profile with `--profile NAME`; `faraday profiles NAME` prints it"];
  return `${[...PROFILE_NAMES.map(line), ...middle, ...parts.map(line), ...end].join("\n")}\n`;
}
