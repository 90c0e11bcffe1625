import { type CompiledCondition, compileCondition } from "./compile-condition.ts";
import { globTexts } from "./glob-pattern.ts";
import { anyOf, exeGlobPattern, parsedGlob } from "./match-program.ts";
import type { Condition, Rule } from "./model.ts";
import { DELETED_SUFFIX, MEMFD_PREFIX, memfdSpelling } from "./path-name.ts";
import type { ExecRequest, Verdict } from "./request.ts";
import type { RequestFacts } from "./request-facts.ts";

export interface CompiledRule {
  readonly rule: Rule;
  readonly verdict: Verdict;
  matches(facts: RequestFacts): boolean;
  /** The first key that keeps the rule from matching, for explanations; null if it matches. */
  firstMiss(facts: RequestFacts): Miss | null;
}

/** `kind`: an allow rule that does not name the memfd or deleted file. */
export type Miss = { readonly condition: Condition } | { readonly kind: "memfd" | "deleted" };

/** What a rule asks for, ready to be asked. */
interface Questions {
  readonly conditions: readonly CompiledCondition[];
  readonly namesExplicitly: (request: ExecRequest) => boolean;
}

/**
 * Most rules of a policy are about programs that a run never starts, so the patterns of a rule are
 * compiled when it is first tried. (That they can be was found out when the policy was read.)
 */
export function compileRule(rule: Rule): CompiledRule {
  let compiled: Questions | null = null;
  const questions = (): Questions => {
    compiled ??= compileQuestions(rule);
    return compiled;
  };
  const { action, id: ruleId, reason } = rule;
  return {
    rule,
    verdict: Object.freeze({ action, ruleId, reason }),
    matches(facts) {
      const { conditions, namesExplicitly } = questions();
      for (const condition of conditions) if (!condition.holds(facts)) return false;
      return namesExplicitly(facts.request);
    },
    firstMiss: (facts) => firstMiss(questions(), facts),
  };
}

function compileQuestions(rule: Rule): Questions {
  const conditions = rule.conditions
    .map((condition) => compileCondition(rule.action, condition))
    .sort((a, b) => a.cost - b.cost);
  const namesExplicitly = rule.action === "deny" ? () => true : compileNamesExplicitly(rule);
  return { conditions, namesExplicitly };
}

function firstMiss({ conditions, namesExplicitly }: Questions, facts: RequestFacts): Miss | null {
  for (const condition of conditions) {
    if (!condition.holds(facts)) return { condition: condition.condition };
  }
  const { realKind } = facts.request;
  return namesExplicitly(facts.request) || realKind === "file" ? null : { kind: realKind };
}

/**
 * A program without a file is allowed only by a rule that says so in its text: `/**` and
 * `default_action = "allow"` are written with files in mind.
 */
function compileNamesExplicitly(rule: Rule): (request: ExecRequest) => boolean {
  const memfd = explicitTest(rule, MEMFD_PREFIX);
  const deleted = explicitTest(rule, DELETED_SUFFIX.trimStart());
  return ({ realKind, realExe }) => {
    if (realKind === "file") return true;
    if (realExe === null) return false;
    return realKind === "memfd" ? memfd(realExe) : deleted(realExe);
  };
}

function explicitTest(rule: Rule, mark: string): (name: string) => boolean {
  const tests: ((name: string) => boolean)[] = [];
  for (const { key, negated, values } of rule.conditions) {
    if (negated) continue;
    const marked = values.map(String).filter((value) => value.includes(mark));
    if (marked.length === 0) continue;
    if (key === "exe") {
      const paths = new Set(marked.map(memfdSpelling));
      tests.push((name) => paths.has(name));
    }
    if (key === "exe_glob") {
      const { placed, placeless } = exeGlobPattern(marked);
      tests.push((name) => placed(name) || placeless(name));
    }
  }
  return anyOf(tests);
}

/**
 * Where a rule can be looked up by the program's name: a rule with `exe`, `exe_basename` or
 * a glob without wildcards can only match a request that has one of these among its names.
 */
export function lookupKeys(rule: Rule): { paths: string[]; baseNames: string[] } | null {
  const find = (key: Condition["key"]): string[] | null => {
    const condition = rule.conditions.find((each) => each.key === key && !each.negated);
    return condition === undefined ? null : condition.values.map(String);
  };
  const paths = find("exe");
  if (paths !== null) return { paths: paths.map(memfdSpelling), baseNames: [] };
  const baseNames = find("exe_basename");
  if (baseNames !== null) return { paths: [], baseNames };
  const globs = find("exe_glob")?.map((glob) => globTexts(parsedGlob(memfdSpelling(glob))));
  if (globs === undefined || globs.includes(null)) return null;
  return { paths: globs.flatMap((texts) => texts ?? []), baseNames: [] };
}
