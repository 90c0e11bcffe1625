import { closestName } from "./closest-name.ts";
import { type CompiledPolicy, compilePolicy } from "./compile-policy.ts";
import type { Policy, PolicyTest } from "./model.ts";
import type { ProblemList } from "./problem-list.ts";
import { findProgram } from "./read-test.ts";
import type { ExecRequest, Verdict } from "./request.ts";

/** Judges a policy's own examples; each that comes out otherwise is an error. */
export function judgeTests(policy: Policy, problems: ProblemList): void {
  if (policy.tests.length === 0) return;
  const compiled = compilePolicy(policy);
  const ids = policy.rules.map(({ id }) => id);
  for (const test of policy.tests) {
    if (test.rule !== null && test.rule !== "default" && !ids.includes(test.rule)) {
      const near = closestName(test.rule, ids);
      const hint = near === null ? null : `did you mean "${near}"?`;
      const message = `the test names rule "${test.rule}", which does not exist`;
      problems.error("test-failed", test.span, message, hint);
      continue;
    }
    const request = testRequest(test);
    const verdict = compiled.decide(request);
    const asExpected = test.rule === null || test.rule === verdict.ruleId;
    if (verdict.action === test.expect && asExpected) continue;
    const wanted = test.rule === null ? test.expect : `${test.expect} by ${named(test.rule)}`;
    const got = `${verdict.action} by ${named(verdict.ruleId)}`;
    const command = JSON.stringify(test.argv);
    const message = `test failed: expected ${wanted}, got ${got}, for ${command}`;
    problems.error("test-failed", test.span, message, explain(policy, compiled, test, verdict));
  }
}

/** An example stands for an honest call: a file that is what its name says. */
export function testRequest(test: PolicyTest): ExecRequest {
  const cwd = test.cwd ?? "/";
  return {
    exe: test.exe ?? findProgram(test.argv[0] ?? "", cwd),
    realExe: null,
    realKind: "file",
    aliases: [],
    invokedIsPlantable: false,
    realIsPlantable: false,
    parentIsPlantable: false,
    argv: test.argv,
    cwd,
    uid: test.uid ?? TEST_UID,
    parent:
      test.parentExe === null
        ? null
        : { exe: test.parentExe, argv: test.parentArgv, trusted: true },
  };
}

/** The first ordinary user of a Debian machine. */
const TEST_UID = 1000;

function named(ruleId: string): string {
  return ruleId === "default" ? "default_action" : `rule "${ruleId}"`;
}

/** Why the rule that the test asks for did not decide, or where the one that did stands. */
function explain(
  policy: Policy,
  compiled: CompiledPolicy,
  test: PolicyTest,
  verdict: Verdict,
): string | null {
  const wanted = policy.rules.findIndex(({ id }) => id === test.rule);
  if (wanted >= 0) {
    const miss = compiled.whyNot(wanted, testRequest(test));
    if (miss !== null && "condition" in miss) {
      const { key, negated } = miss.condition;
      const name = negated ? `${key}_not` : key;
      return `rule "${test.rule}" does not match because of its key \`${name}\``;
    }
  }
  const decided = policy.rules.find(({ id }) => id === verdict.ruleId);
  if (decided === undefined) return null;
  return `rule "${decided.id}" stands at ${decided.span.file}:${decided.span.line}`;
}
