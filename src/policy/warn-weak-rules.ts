import { isPlaceless, parsedGlob } from "./match-program.ts";
import type { Condition, Policy, Rule } from "./model.ts";
import type { ProblemList } from "./problem-list.ts";

/** Warns of rules that hold less than they seem to. */
export function warnWeakRules(policy: Policy, problems: ProblemList): void {
  for (const rule of policy.rules) {
    if (rule.action === "allow" && policy.filesystem === null) warnUnsealedNames(rule, problems);
    if (rule.action === "deny") warnHostInDeny(rule, problems);
  }
}

/** With sealed files the supervisor knows where the agent may write; without, it may anywhere. */
function warnUnsealedNames(rule: Rule, problems: ProblemList): void {
  const condition = rule.conditions.find(goesByName);
  // A place that is asked for as well settles what the name does not.
  if (condition === undefined || rule.conditions.some(goesByPlace)) return;
  const example = String(condition.values[0])
    .replace(/^.*\//, "")
    .replace(/[*?[\]{}\\]/g, "");
  problems.warn(
    "name-not-sealed",
    condition.span,
    `rule "${rule.id}" allows a program by its name, and without [filesystem] ` +
      "any program may be planted under that name",
    `add a [filesystem] table, or write ${fullPathKey(condition)} = "/usr/bin/${example}"`,
  );
}

function fullPathKey({ key }: Condition): string {
  return key === "parent_exe" ? "parent_exe" : "exe";
}

function goesByName({ key, negated, values }: Condition): boolean {
  if (negated) return false;
  if (key === "exe_basename") return true;
  const globs = values.map(String);
  if (key === "exe_glob") return globs.some((glob) => isPlaceless(parsedGlob(glob)));
  return key === "parent_exe" && globs.some((glob) => !glob.includes("/"));
}

function goesByPlace({ key, negated, values }: Condition): boolean {
  if (negated) return false;
  if (key === "exe") return true;
  return key === "exe_glob" && !values.some((glob) => isPlaceless(parsedGlob(String(glob))));
}

/** "Every host is in the list" is easily made false by whoever chooses the arguments. */
function warnHostInDeny(rule: Rule, problems: ProblemList): void {
  const condition = rule.conditions.find(({ key, negated }) => key === "argv_host_in" && !negated);
  if (condition === undefined) return;
  problems.warn(
    "host-in-deny",
    condition.span,
    `rule "${rule.id}" denies only if every URL is in the list, so one more URL evades it`,
    "write argv_host_any, which asks for some URL in the list",
  );
}
