import { type CompiledRule, compileRule, lookupKeys, type Miss } from "./compile-rule.ts";
import type { MatchKey, Policy } from "./model.ts";
import type { ExecRequest, Verdict } from "./request.ts";
import { RequestFacts } from "./request-facts.ts";

export interface CompiledPolicy {
  /**
   * The verdict of the first rule that matches, else of `default_action`. `deadline` is asked
   * before each rule; once it says true, the answer is deny.
   */
  decide(request: ExecRequest, deadline?: () => boolean): Verdict;
  /** What keeps a rule (by its position) from matching; null if it matches. */
  whyNot(ruleIndex: number, request: ExecRequest): Miss | null;
  /** Whether any rule looks at these; what none looks at, need not be read. */
  readonly usesParent: boolean;
  readonly usesCwd: boolean;
  readonly usesUid: boolean;
  /** The programs that deny rules name, for who wants to find other links to them. */
  readonly deniedPrograms: { readonly paths: string[]; readonly basenames: string[] };
}

export function compilePolicy(policy: Policy): CompiledPolicy {
  const rules = policy.rules.map(compileRule);
  const index = new RuleIndex(rules);
  const uses = (...keys: MatchKey[]): boolean =>
    policy.rules.some((rule) => rule.conditions.some(({ key }) => keys.includes(key)));
  const judge = new Judge(policy, rules, index);
  return {
    decide: (request, deadline) => judge.decide(request, deadline),
    whyNot: (ruleIndex, request) => {
      const rule = rules[ruleIndex];
      if (rule === undefined) throw new RangeError(`the policy has no rule ${ruleIndex}`);
      return rule.firstMiss(new RequestFacts(request));
    },
    usesParent: uses("parent_exe", "parent_argv"),
    usesCwd: uses("cwd_glob"),
    usesUid: uses("uid"),
    deniedPrograms: deniedPrograms(policy),
  };
}

function deniedPrograms(policy: Policy): { paths: string[]; basenames: string[] } {
  const paths = new Set<string>();
  const basenames = new Set<string>();
  for (const { action, conditions } of policy.rules) {
    if (action !== "deny") continue;
    for (const { key, negated, values } of conditions) {
      if (negated) continue;
      if (key === "exe") for (const value of values) paths.add(String(value));
      if (key === "exe_basename") for (const value of values) basenames.add(String(value));
    }
  }
  return { paths: [...paths], basenames: [...basenames] };
}

class Judge {
  readonly #policy: Policy;
  readonly #rules: readonly CompiledRule[];
  readonly #index: RuleIndex;
  readonly #default: Verdict;

  constructor(policy: Policy, rules: readonly CompiledRule[], index: RuleIndex) {
    this.#policy = policy;
    this.#rules = rules;
    this.#index = index;
    const action = policy.meta.defaultAction;
    const reason = `default_action = "${action}"`;
    this.#default = Object.freeze({ action, ruleId: "default", reason });
  }

  decide(request: ExecRequest, deadline?: () => boolean): Verdict {
    let current: CompiledRule | null = null;
    try {
      const facts = new RequestFacts(request);
      const candidates = this.#index.candidates(facts);
      for (let next = candidates.next(); next >= 0; next = candidates.next()) {
        if (deadline?.()) return TIMEOUT;
        current = this.#rules[next] as CompiledRule;
        if (current.matches(facts)) return deadline?.() ? TIMEOUT : current.verdict;
      }
      if (deadline?.()) return TIMEOUT;
      return WITHOUT_FILE[request.realKind] ?? this.#default;
    } catch (error) {
      return this.#failed(request, current, error);
    }
  }

  #failed(request: ExecRequest, rule: CompiledRule | null, error: unknown): Verdict {
    // What would need a rule of its own is not let through by a failure either.
    const action = request.realKind === "file" ? this.#policy.meta.onPolicyError : "deny";
    const where = rule === null ? "" : ` at rule "${rule.rule.id}"`;
    const what = error instanceof Error ? error.message : String(error);
    return {
      action,
      ruleId: "builtin:policy-error",
      reason: `judging failed${where} (${what}): on_policy_error = "${action}"`,
    };
  }
}

const TIMEOUT: Verdict = Object.freeze({
  action: "deny",
  ruleId: "builtin:timeout",
  reason: "the verdict took longer than on_supervisor_timeout_ms",
});

const WITHOUT_FILE: Record<ExecRequest["realKind"], Verdict | null> = {
  file: null,
  memfd: Object.freeze({
    action: "deny",
    ruleId: "builtin:memfd",
    reason: "the program lies in memory only (memfd), and no rule names it",
  }),
  deleted: Object.freeze({
    action: "deny",
    ruleId: "builtin:deleted",
    reason: "the program's file has been deleted, and no rule names it",
  }),
};

const EMPTY: readonly number[] = [];

/** Finds the rules that may match a request by its program's names, in the policy's order. */
class RuleIndex {
  readonly #byPath = new Map<string, number[]>();
  readonly #byBaseName = new Map<string, number[]>();
  /** Rules that name no program plainly; every request is tried against them. */
  readonly #others: number[] = [];

  constructor(rules: readonly CompiledRule[]) {
    rules.forEach(({ rule }, position) => {
      const keys = lookupKeys(rule);
      if (keys === null) this.#others.push(position);
      else {
        for (const path of keys.paths) append(this.#byPath, path, position);
        for (const name of keys.baseNames) append(this.#byBaseName, name, position);
      }
    });
  }

  candidates(facts: RequestFacts): Candidates {
    const lists = [this.#others];
    for (const name of facts.names) {
      const list = this.#byPath.get(name);
      if (list !== undefined) lists.push(list);
    }
    for (const name of facts.baseNames) {
      const list = this.#byBaseName.get(name);
      if (list !== undefined && !lists.includes(list)) lists.push(list);
    }
    return new Candidates(lists);
  }
}

function append(map: Map<string, number[]>, key: string, position: number): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [position]);
  else if (list.at(-1) !== position) list.push(position);
}

/** Merges ascending lists, each number once. */
class Candidates {
  readonly #lists: readonly (readonly number[])[];
  readonly #heads: number[];
  #last = -1;

  constructor(lists: readonly (readonly number[])[]) {
    this.#lists = lists;
    this.#heads = lists.map(() => 0);
  }

  /** The next number, or -1. */
  next(): number {
    let least = -1;
    for (let i = 0; i < this.#lists.length; i++) {
      const list = this.#lists[i] ?? EMPTY;
      let head = this.#heads[i] as number;
      while (head < list.length && (list[head] as number) <= this.#last) head++;
      this.#heads[i] = head;
      const value = list[head];
      if (value !== undefined && (least < 0 || value < least)) least = value;
    }
    if (least >= 0) this.#last = least;
    return least;
  }
}
