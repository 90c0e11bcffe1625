/** Each match key by itself, both ways and with `_not`. */
import { expect, test } from "bun:test";
import type { ExecRequest } from "../../src/policy/request.ts";
import { oneRule, request } from "./policy-fixture.ts";

interface Case {
  readonly rule: string;
  readonly given: Partial<ExecRequest>;
  readonly matches: boolean;
  readonly because: string;
}

const git = { exe: "/usr/bin/git", argv: ["git", "status"] };
const line = (...argv: string[]): Partial<ExecRequest> => ({ argv });

const cases: Case[] = [
  { rule: "", given: git, matches: true, because: "no key matches everything" },
  { rule: 'exe = "/usr/bin/git"', given: git, matches: true, because: "the path" },
  { rule: 'exe = "/usr/bin/gi"', given: git, matches: false, because: "not a prefix" },
  { rule: 'exe = ["/bin/x", "/usr/bin/git"]', given: git, matches: true, because: "a list is or" },
  { rule: 'exe_not = "/usr/bin/git"', given: git, matches: false, because: "negated" },
  { rule: 'exe_not = ["/bin/x", "/bin/y"]', given: git, matches: true, because: "none of them" },
  { rule: 'exe_not = ["/bin/x", "/usr/bin/git"]', given: git, matches: false, because: "one is" },
  { rule: 'exe_basename = "git"', given: git, matches: true, because: "the last part" },
  { rule: 'exe_basename = "bin"', given: git, matches: false, because: "only the last part" },
  { rule: 'exe_basename_not = "git"', given: git, matches: false, because: "negated" },
  { rule: 'exe_glob = "/usr/*/git"', given: git, matches: true, because: "a glob" },
  { rule: 'exe_glob = "/usr/*"', given: git, matches: false, because: "* does not cross /" },
  { rule: 'exe_glob = "/usr/bin/git/**"', given: git, matches: false, because: "only below" },
  { rule: 'exe_glob_not = "/usr/**"', given: git, matches: false, because: "negated" },
  { rule: "argv_regex = '^git (status|log)( |$)'", given: git, matches: true, because: "search" },
  { rule: "argv_regex = '^status'", given: git, matches: false, because: "anchored at argv[0]" },
  { rule: "argv_regex = ['x', 'stat']", given: git, matches: true, because: "anywhere" },
  { rule: "argv_regex_not = 'status'", given: git, matches: false, because: "negated" },
  { rule: "argv_regex_not = ['x', 'y']", given: git, matches: true, because: "none of them" },
  { rule: "argv_regex = 'a b'", given: line("x", "a", "b"), matches: true, because: "joined" },
  { rule: "argv_regex = '^ls$'", given: line("ls", ""), matches: false, because: "an empty one" },
  { rule: "argv_regex = '^$'", given: line(), matches: true, because: "no argument at all" },
  { rule: 'argv_contains = "tat"', given: git, matches: true, because: "inside one" },
  { rule: 'argv_contains = "git status"', given: git, matches: false, because: "not over two" },
  { rule: 'argv_contains = "a b"', given: line("x", "a b"), matches: true, because: "one has it" },
  { rule: 'argv_contains_not = "tat"', given: git, matches: false, because: "negated" },
  { rule: 'cwd_glob = "/work"', given: {}, matches: true, because: "the directory" },
  { rule: 'cwd_glob = "/work/**"', given: {}, matches: true, because: "/** holds itself here" },
  { rule: 'cwd_glob = "/work/**"', given: { cwd: "/work/a" }, matches: true, because: "below" },
  { rule: 'cwd_glob = "/work/**"', given: { cwd: "/workshop" }, matches: false, because: "not" },
  { rule: 'cwd_glob = "/**"', given: { cwd: "/" }, matches: true, because: "the root" },
  { rule: 'cwd_glob = "/work/*"', given: {}, matches: false, because: "/* does not hold itself" },
  { rule: 'cwd_glob_not = "/work/**"', given: {}, matches: false, because: "negated" },
  { rule: "uid = 1000", given: {}, matches: true, because: "the user" },
  { rule: "uid = [0, 1]", given: {}, matches: false, because: "another" },
  { rule: "uid_not = 0", given: {}, matches: true, because: "negated" },
  { rule: 'exe_basename = "git"\nuid = 0', given: git, matches: false, because: "keys are and" },
  {
    rule: "argv_regex = 'git'\nargv_regex_not = 'push'",
    given: git,
    matches: true,
    because: "one key both ways",
  },
  {
    rule: "argv_regex = 'git'\nargv_regex_not = 'status'",
    given: git,
    matches: false,
    because: "one key both ways",
  },
];

for (const action of ["allow", "deny"] as const) {
  test.each(cases)(
    `decide() with an ${action} rule of $rule: $matches ($because)`,
    ({ rule, given, matches }) => {
      const verdict = oneRule(action, rule).decide(request(given));
      expect(verdict.ruleId).toBe(matches ? "r" : "default");
      expect(verdict.action === action).toBe(matches);
    },
  );
}

test.each([
  { rule: "argv_regex = 'a.b'", action: "deny", matches: true },
  { rule: "argv_regex = 'a.b'", action: "allow", matches: false },
  { rule: "argv_regex_not = 'a.b'", action: "allow", matches: false },
  { rule: "argv_regex_not = 'a.b'", action: "deny", matches: true },
] as const)("`.` over a newline makes $action $rule stricter", ({ rule, action, matches }) => {
  const { ruleId, action: answer } = oneRule(action, rule).decide(request(line("x", "a\nb")));
  expect(ruleId).toBe(matches ? "r" : "default");
  expect(answer).toBe("deny");
});

test("an embedded newline fakes no anchor", () => {
  const policy = oneRule("allow", "argv_regex = '^git status$'");
  expect(policy.decide(request(line("git", "status"))).action).toBe("allow");
  expect(policy.decide(request(line("sh", "-c", "\ngit status\n"))).action).toBe("deny");
});

test.each([
  { argv: ["git", "status"], allow: true, deny: false, because: "what it says" },
  { argv: ["git", "push"], allow: false, deny: true, because: "what it says" },
  { argv: ["git status", "push"], allow: false, deny: true, because: "a disguised push" },
  { argv: ["git\tstatus", "push"], allow: false, deny: true, because: "a disguised push" },
  { argv: ["", "push"], allow: false, deny: true, because: "a push without its name" },
  { argv: ["x y", "push"], allow: false, deny: true, because: "a push under another name" },
  { argv: ["/usr/bin/git", "push"], allow: false, deny: true, because: "a push by its path" },
  { argv: ["x", "status"], allow: false, deny: false, because: "an allow goes by what is said" },
])("argv[0] is not taken at its word: $argv is $because", ({ argv, allow, deny }) => {
  const given = request({ exe: "/usr/bin/git", argv });
  const matches = (action: "allow" | "deny", rule: string): boolean =>
    oneRule(action, rule).decide(given).ruleId === "r";
  expect(matches("allow", "argv_regex = '^git status( |$)'")).toBe(allow);
  expect(matches("deny", "argv_regex = '^git push( |$)'")).toBe(deny);
  expect(matches("allow", "argv_regex_not = '^git push( |$)'")).toBe(!deny);
  expect(matches("deny", "argv_regex_not = '^git status( |$)'")).toBe(!allow);
});

test("a program with a space in its own name is no disguise", () => {
  const policy = oneRule("allow", "argv_regex = '^(/opt/)?my tool run$'");
  const given = (first: string, exe: string) => request({ exe, argv: [first, "run"] });
  expect(policy.decide(given("/opt/my tool", "/opt/my tool")).action).toBe("allow");
  expect(policy.decide(given("my tool", "/opt/my tool")).action).toBe("allow");
  expect(policy.decide(given("my tool", "/opt/other")).action).toBe("deny");
});

test("2 MiB of argv in one argument and in many are judged", () => {
  const policy = oneRule("deny", "argv_regex = '(a+)+!$'\nargv_contains = 'zz'");
  expect(policy.decide(request(line("x", "a".repeat(2 << 20)))).action).toBe("allow");
  const search = oneRule("deny", "argv_regex = '(a+)+!$'");
  expect(search.decide(request(line("x", "a".repeat(2 << 20)))).action).toBe("allow");
  const many = Array.from({ length: 10_000 }, (_, i) => `arg${i}`);
  expect(search.decide(request({ argv: [...many, "a!"] })).action).toBe("deny");
});
