import { escapeControl } from "./escape-control.ts";
import type { Policy } from "./model.ts";

/** Where a rule has to be put to come before the one that decided, as the end of a sentence. */
export function changePlace(policy: Policy, ruleId: string): string {
  // What is inside the binary cannot be edited, but it can be extended.
  if (policy.name.startsWith("builtin:"))
    return `below \`extends = ["${policy.name}"]\` into a policy of your own`;
  const rule = policy.rules.find(({ id }) => id === ruleId);
  // A policy's own rules come before those of its bases, wherever they stand in it.
  return rule?.span.file === policy.name
    ? `above rule ${ruleId} in ${escapeControl(policy.name)}`
    : `into ${escapeControl(policy.name)}`;
}
