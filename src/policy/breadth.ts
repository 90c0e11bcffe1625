import type { Action } from "./model.ts";

/**
 * Names can be planted, URLs read in two ways, a `.` may or may not match a newline. Where that
 * leaves room, a condition is read `wide` (it holds if any reading holds) or `narrow` (only if
 * every reading does), whichever makes the policy stricter: doubt denies.
 *
 *              plain     with _not
 *   allow      narrow    wide
 *   deny       wide      narrow
 */
export type Breadth = "wide" | "narrow";

export function breadthOf(action: Action, negated: boolean): Breadth {
  return (action === "deny") !== negated ? "wide" : "narrow";
}
