import { compilePolicy } from "./compile-policy.ts";
import type { Miss } from "./compile-rule.ts";
import type { Policy, Rule } from "./model.ts";
import type { ExecRequest, Verdict } from "./request.ts";

export interface Explanation {
  readonly verdict: Verdict;
  /** The rules above the one that decided, each with the key that kept it from matching. */
  readonly passedOver: readonly { readonly rule: Rule; readonly miss: Miss | null }[];
}

/** Says how a verdict came about. Slower than `decide`: it asks every earlier rule. */
export function explainVerdict(policy: Policy, request: ExecRequest): Explanation {
  const compiled = compilePolicy(policy);
  const verdict = compiled.decide(request);
  const decided = policy.rules.findIndex(({ id }) => id === verdict.ruleId);
  const earlier = decided < 0 ? policy.rules : policy.rules.slice(0, decided);
  const passedOver = earlier.map((rule, index) => ({
    rule,
    miss: compiled.whyNot(index, request),
  }));
  return { verdict, passedOver };
}
