import { expect, test } from "bun:test";
import type { ParentIdentity } from "../../src/policy/request.ts";
import { oneRule, request } from "./policy-fixture.ts";

const make: ParentIdentity = { exe: "/usr/bin/make", argv: ["make", "all"], trusted: true };

function matches(action: "allow" | "deny", rule: string, parent: ParentIdentity | null): boolean {
  return oneRule(action, rule).decide(request({ parent })).ruleId === "r";
}

test.each([
  { rule: 'parent_exe = "/usr/bin/make"', found: true, because: "the path" },
  { rule: 'parent_exe = "/usr/bin/mak"', found: false, because: "not a prefix" },
  { rule: 'parent_exe = "make"', found: true, because: "without a slash, the last part" },
  { rule: 'parent_exe = "m*"', found: true, because: "a glob of the last part" },
  { rule: 'parent_exe = "bin"', found: false, because: "only the last part" },
  { rule: 'parent_exe = "/usr/**"', found: true, because: "a glob" },
  { rule: 'parent_exe = "/usr/*"', found: false, because: "* does not cross /" },
  { rule: 'parent_exe = ["x", "make"]', found: true, because: "a list is or" },
  { rule: "parent_argv = '^make all$'", found: true, because: "joined" },
  { rule: "parent_argv = 'clean'", found: false, because: "not there" },
])("$rule: $because", ({ rule, found }) => {
  const not = rule.replace(" =", "_not =");
  for (const action of ["allow", "deny"] as const) {
    expect(matches(action, rule, make)).toBe(found);
    expect(matches(action, not, make)).toBe(!found);
  }
});

const nothing: ParentIdentity = { exe: null, argv: null, trusted: true };

test.each([
  { key: "parent_exe = 'make'", parent: null, because: "no parent" },
  { key: "parent_argv = 'make'", parent: null, because: "no parent" },
  { key: "parent_exe = 'make'", parent: nothing, because: "a parent without a program" },
  { key: "parent_argv = 'make'", parent: nothing, because: "a parent without arguments" },
])("$because: $key matches nothing, and its negation denies", ({ key, parent }) => {
  const not = key.replace(" =", "_not =");
  expect(matches("allow", key, parent)).toBe(false);
  expect(matches("deny", key, parent)).toBe(false);
  expect(matches("allow", not, parent)).toBe(false);
  expect(matches("deny", not, parent)).toBe(true);
});

test.each([
  { rule: "parent_argv = 'all'", action: "allow", found: false },
  { rule: "parent_argv = 'all'", action: "deny", found: true },
  { rule: "parent_argv = 'no'", action: "deny", found: false },
  { rule: "parent_argv_not = 'all'", action: "allow", found: false },
  { rule: "parent_argv_not = 'no'", action: "allow", found: false },
  { rule: "parent_argv_not = 'all'", action: "deny", found: true },
  { rule: "parent_argv_not = 'no'", action: "deny", found: true },
  { rule: "parent_exe = 'make'", action: "allow", found: true },
] as const)("arguments that may be rewritten do not vouch: $action $rule", (each) => {
  expect(matches(each.action, each.rule, { ...make, trusted: false })).toBe(each.found);
});

test("a parent's first word is not taken at its word either", () => {
  const parent = (...argv: string[]): ParentIdentity => ({ ...make, argv });
  expect(matches("allow", "parent_argv = '^make all( |$)'", parent("make all", "evil"))).toBe(
    false,
  );
  expect(matches("deny", "parent_argv = '^make evil'", parent("x", "evil"))).toBe(true);
});

test("a deny meets a parent whose file was deleted; an allow does not take it for the file", () => {
  const deleted = { ...make, exe: "/usr/bin/make (deleted)" };
  for (const rule of ['parent_exe = "/usr/bin/make"', 'parent_exe = "make"']) {
    expect(matches("deny", rule, deleted)).toBe(true);
    expect(matches("allow", rule, deleted)).toBe(false);
  }
});

test.each([
  { value: "make", action: "allow", found: false, because: "anything can be called make" },
  { value: "**/make", action: "allow", found: false, because: "wherever it lies" },
  { value: "/work/make", action: "allow", found: true, because: "that very place was meant" },
  { value: "make", action: "deny", found: true, because: "a deny meets it all the same" },
] as const)("a parent where the agent may write, $action $value: $because", (given) => {
  const { value, action, found } = given;
  const { decide } = oneRule(action, `parent_exe = "${value}"`);
  const parent: ParentIdentity = { ...make, exe: "/work/make" };
  expect(decide(request({ parent, parentIsPlantable: true })).ruleId === "r").toBe(found);
  expect(decide(request({ parent })).ruleId).toBe("r");
});
