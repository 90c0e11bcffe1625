import { expect, test } from "bun:test";
import { compilePolicy } from "../../src/policy/compile-policy.ts";
import { explainVerdict } from "../../src/policy/explain-verdict.ts";
import type { Policy } from "../../src/policy/model.ts";
import { compiled, parsed, request } from "./policy-fixture.ts";

const text = `
[meta]
default_action = "deny"
[[rule]]
id = "first"
action = "deny"
reason = "not this"
exe_basename = "git"
argv_regex = 'push'
[[rule]]
id = "second"
action = "allow"
exe = "/usr/bin/git"
[[rule]]
id = "third"
action = "deny"
exe_glob = "/usr/**"
[[rule]]
id = "fourth"
action = "allow"
exe_basename = ["sh", "git"]
`;

test.each([
  { exe: "/usr/bin/git", argv: ["git", "push"], rule: "first", because: "the first match wins" },
  { exe: "/usr/bin/git", argv: ["git", "log"], rule: "second", because: "the next is tried" },
  { exe: "/usr/bin/sh", argv: ["sh"], rule: "third", because: "order holds across the index" },
  { exe: "/bin/sh", argv: ["sh"], rule: "fourth", because: "the last" },
  { exe: "/opt/git", argv: ["git"], rule: "fourth", because: "two rules of one name" },
  { exe: "/opt/x", argv: ["x"], rule: "default", because: "none matches" },
])("decide() picks $rule: $because", ({ exe, argv, rule }) => {
  expect(compiled(text).decide(request({ exe, argv })).ruleId).toBe(rule);
});

test("verdicts carry action, id and reason", () => {
  const policy = compiled(text);
  const git = (...argv: string[]) => policy.decide(request({ exe: "/usr/bin/git", argv }));
  expect(git("push")).toEqual({ action: "deny", ruleId: "first", reason: "not this" });
  const reason = 'allowed by rule "second"';
  expect(git("log")).toEqual({ action: "allow", ruleId: "second", reason });
  const other = policy.decide(request({ exe: "/x" }));
  const byDefault = 'default_action = "deny"';
  expect(other).toEqual({ action: "deny", ruleId: "default", reason: byDefault });
});

test("the index finds what trying every rule in turn finds", () => {
  const programs = ["a", "b", "c"];
  const lines = [
    'exe_basename = "a"',
    'exe = "/x/b"',
    'exe_glob = "**/c"',
    'exe_glob = "/{x,y}/a"',
  ];
  const extra = ["", "uid = 1", "argv_regex = 'k'", 'cwd_glob = "/w"'];
  let seed = 7;
  const pick = <T>(list: readonly T[]): T => {
    seed = (seed * 48271) % 2147483647;
    return list[seed % list.length] as T;
  };
  for (let round = 0; round < 50; round++) {
    const rules = Array.from({ length: 12 }, (_, i) => {
      const action = pick(["allow", "deny"]);
      return `[[rule]]\nid = "r${i}"\naction = "${action}"\n${pick(lines)}\n${pick(extra)}\n`;
    });
    const whole = compiled(rules.join(""));
    const alone = rules.map((rule) => compiled(rule));
    for (let i = 0; i < 10; i++) {
      const given = request({
        exe: `/${pick(["x", "y", "z"])}/${pick(programs)}`,
        realExe: `/${pick(["x", "y"])}/${pick(programs)}`,
        aliases: pick([[], ["/x/b"], ["/y/c", "/x/a"]]),
        argv: [pick(["k", "l"])],
        uid: pick([1, 2]),
        cwd: pick(["/w", "/v"]),
      });
      const first = alone.find((each) => each.decide(given).ruleId !== "default");
      const expected = first?.decide(given).ruleId ?? "default";
      expect(whole.decide(given).ruleId).toBe(expected);
    }
  }
});

test("uses… says what rules look at", () => {
  const uses = (lines: string): boolean[] => {
    const policy = compiled(`[[rule]]\nid = "r"\naction = "allow"\n${lines}`);
    return [policy.usesParent, policy.usesCwd, policy.usesUid];
  };
  expect(uses("argv_regex = 'x'")).toEqual([false, false, false]);
  expect(uses('parent_exe = "x"')).toEqual([true, false, false]);
  expect(uses("parent_argv_not = 'x'")).toEqual([true, false, false]);
  expect(uses('cwd_glob = "/x"')).toEqual([false, true, false]);
  expect(uses("uid_not = 0")).toEqual([false, false, true]);
});

test("deniedPrograms holds what deny rules name, and nothing else", () => {
  const rule = (id: string, action: string, lines: string): string =>
    `[[rule]]\nid = "${id}"\naction = "${action}"\n${lines}\n`;
  const policy = compiled(
    rule("a", "deny", 'exe = ["/a", "/b"]') +
      rule("b", "deny", 'exe_basename = "c"\nexe_not = "/d"') +
      rule("c", "allow", 'exe = "/e"\nexe_basename = "e"') +
      rule("d", "deny", 'exe = "/a"\nexe_glob = "/f/*"'),
  );
  expect(policy.deniedPrograms).toEqual({ paths: ["/a", "/b"], basenames: ["c"] });
});

/** A policy that no parser lets through: judging it fails. */
function broken(onPolicyError: "allow" | "deny"): Policy {
  const { policy } = parsed(text);
  const rules = policy.rules.map((rule) => ({
    ...rule,
    conditions: rule.conditions.map((each) =>
      each.key === "argv_regex" ? { ...each, values: ["("] } : each,
    ),
  }));
  return { ...policy, rules, meta: { ...policy.meta, onPolicyError } };
}

test.each([{ action: "deny" }, { action: "allow" }] as const)(
  "judging that fails is answered by on_policy_error = $action",
  ({ action }) => {
    const policy = compilePolicy(broken(action));
    const verdict = policy.decide(request({ exe: "/usr/bin/git" }));
    expect([verdict.action, verdict.ruleId]).toEqual([action, "builtin:policy-error"]);
    expect(verdict.reason).toContain('at rule "first"');
    expect(policy.decide(request({ exe: "/bin/sh" })).ruleId).toBe("fourth");
    const gone = request({ exe: "/usr/bin/git", realKind: "deleted" });
    expect(policy.decide(gone).action).toBe("deny");
  },
);

test("a deadline that has passed denies, whatever would match", () => {
  const policy = compiled(text);
  const allowed = request({ exe: "/usr/bin/git", argv: ["git", "log"] });
  expect(policy.decide(allowed, () => false).action).toBe("allow");
  for (const late of [1, 2, 3]) {
    let asked = 0;
    const verdict = policy.decide(allowed, () => ++asked >= late);
    expect([late, verdict.action, verdict.ruleId]).toEqual([late, "deny", "builtin:timeout"]);
  }
  const empty = compiled('[meta]\ndefault_action = "allow"');
  expect(empty.decide(request(), () => true).ruleId).toBe("builtin:timeout");
});

test("explainVerdict() names the key that kept each earlier rule from matching", () => {
  const { policy } = parsed(text);
  const given = request({ exe: "/opt/git", argv: ["git", "log"] });
  const { verdict, passedOver } = explainVerdict(policy, given);
  const misses = passedOver.map(({ rule, miss }) => {
    const key = miss !== null && "condition" in miss ? miss.condition.key : miss;
    return [rule.id, key];
  });
  expect(verdict.ruleId).toBe("fourth");
  expect(misses).toEqual([
    ["first", "argv_regex"],
    ["second", "exe"],
    ["third", "exe_glob"],
  ]);
});

test("a policy survives structuredClone", () => {
  const { policy } = parsed(text);
  expect(structuredClone(policy)).toEqual(policy);
});
