import { breadthOf } from "./breadth.ts";
import { compileGlob } from "./glob-pattern.ts";
import { parsedGlob } from "./match-program.ts";
import type { Condition, Policy, Rule } from "./model.ts";
import { baseName } from "./path-name.ts";
import type { ProblemList } from "./problem-list.ts";

/**
 * Warns of rules that come too late: an earlier rule matches whatever they match. Only what
 * follows from the conditions themselves is told, so a warning is never wrong, but not every
 * dead rule is found. Rules of a base that the file overrides are meant to be overridden.
 */
export function warnShadowedRules(policy: Policy, problems: ProblemList): void {
  const earlier = new EarlierRules();
  for (const rule of policy.rules) {
    const other = earlier.find(
      (each) => each.span.file === rule.span.file && shadows(each, rule),
      rule,
    );
    if (other !== null) warn(other, rule, problems);
    earlier.add(rule);
  }
}

/** Comparing every pair is quadratic, so rules that name programs are found by these names. */
class EarlierRules {
  readonly #byName = new Map<string, Rule[]>();
  readonly #others: Rule[] = [];

  add(rule: Rule): void {
    const named = nameCondition(rule);
    if (named === undefined) this.#others.push(rule);
    else {
      for (const value of named.values) {
        const name = `${named.key} ${value}`;
        const rules = this.#byName.get(name);
        if (rules === undefined) this.#byName.set(name, [rule]);
        else rules.push(rule);
      }
    }
  }

  /** What shadows a rule must name every program that it names, so also the first. */
  find(matches: (rule: Rule) => boolean, later: Rule): Rule | null {
    const found = this.#others.find(matches);
    if (found !== undefined) return found;
    for (const { key, negated, values } of later.conditions) {
      if (negated || (key !== "exe" && key !== "exe_basename")) continue;
      const first = String(values[0]);
      const byName =
        this.#byName.get(`${key} ${first}`)?.find(matches) ??
        this.#byName.get(`exe_basename ${baseName(first)}`)?.find(matches);
      if (byName !== undefined) return byName;
    }
    return null;
  }
}

function nameCondition({ conditions }: Rule): Condition | undefined {
  return conditions.find(
    ({ key, negated }) => !negated && (key === "exe" || key === "exe_basename"),
  );
}

function warn(earlier: Rule, later: Rule, problems: ProblemList): void {
  // An allow is read narrowly and a deny widely, so a deny behind the same allow still catches
  // a program under a planted or second name: it is late, not dead.
  const late = earlier.conditions.some((condition) => {
    if (!READ_BY_BREADTH.includes(condition.key)) return false;
    const { negated } = condition;
    const before = breadthOf(earlier.action, negated);
    return before !== breadthOf(later.action, negated) && earlier.action === "allow";
  });
  const extent = late ? "matches only programs under planted or second names" : "can never match";
  problems.warn(
    "shadowed-rule",
    later.span,
    `rule "${later.id}" ${extent}: rule "${earlier.id}" on line ${earlier.span.line} ` +
      "matches everything that it does, and the first match wins",
    `move rule "${later.id}" above rule "${earlier.id}", or remove it`,
  );
}

const READ_BY_BREADTH: readonly Condition["key"][] = [
  "exe",
  "exe_basename",
  "exe_glob",
  "argv_regex",
  "argv_host_in",
  "argv_host_any",
  "parent_exe",
  "parent_argv",
];

function shadows(earlier: Rule, later: Rule): boolean {
  // A general allow leaves programs without a file to the rules that name them.
  if (earlier.action === "allow" && namesProgramWithoutFile(later)) return false;
  return earlier.conditions.every((condition) =>
    later.conditions.some((given) => implies(given, condition)),
  );
}

function namesProgramWithoutFile({ conditions }: Rule): boolean {
  return conditions.some(({ values }) =>
    values.some((value) => /memfd:|\(deleted\)/.test(String(value))),
  );
}

/** Whether `wanted` holds of every request of which `given` holds. */
function implies(given: Condition, wanted: Condition): boolean {
  if (given.negated !== wanted.negated) return false;
  if (given.key === wanted.key) {
    const [small, large] = given.negated ? [wanted, given] : [given, wanted];
    return small.values.every((value) => large.values.includes(value));
  }
  if (given.negated || given.key !== "exe") return false;
  const paths = given.values.map(String);
  if (wanted.key === "exe_basename") {
    return paths.every((path) => wanted.values.includes(baseName(path)));
  }
  if (wanted.key === "exe_glob") {
    const tests = wanted.values.map((glob) => compileGlob(parsedGlob(String(glob))));
    return paths.every((path) => tests.some((test) => test(path)));
  }
  return false;
}
