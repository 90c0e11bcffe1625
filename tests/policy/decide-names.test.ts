/** Which of a program's names a rule looks at, and what programs without a file need. */
import { expect, test } from "bun:test";
import type { ExecRequest } from "../../src/policy/request.ts";
import { compiled, oneRule, request } from "./policy-fixture.ts";

const names = ['exe = "/usr/bin/git"', 'exe_basename = "git"', 'exe_glob = "**/git"'];
const placed = ['exe = "/usr/bin/git"', 'exe_glob = "/usr/bin/*"'];

interface Case {
  readonly given: Partial<ExecRequest>;
  /** Whether an allow and a deny rule that name /usr/bin/git by its path match. */
  readonly path: readonly [allow: boolean, deny: boolean];
  /** The same of rules that name it by its last part. */
  readonly name: readonly [allow: boolean, deny: boolean];
  readonly because: string;
}

const GIT = "/usr/bin/git";
const cases: Case[] = [
  { given: { exe: GIT }, path: [true, true], name: [true, true], because: "itself" },
  {
    given: { exe: GIT, realExe: null },
    path: [true, true],
    name: [true, true],
    because: "only the invoked name is known",
  },
  {
    given: { exe: "/usr/bin/x", realExe: GIT },
    path: [true, true],
    name: [true, true],
    because: "a link to it",
  },
  {
    given: { exe: "/work/x", realExe: GIT, invokedIsPlantable: true },
    path: [true, true],
    name: [true, true],
    because: "a planted link to it is still it",
  },
  {
    given: { exe: GIT, realExe: "/usr/lib/git-core/main" },
    path: [true, true],
    name: [true, true],
    because: "a system's link under its name",
  },
  {
    given: { exe: GIT, realExe: "/usr/bin/evil", invokedIsPlantable: true },
    path: [false, true],
    name: [false, true],
    because: "a link under its name where the agent may write",
  },
  {
    given: { exe: "/work/git", invokedIsPlantable: true, realIsPlantable: true },
    path: [false, false],
    name: [false, true],
    because: "a copy of anything under its last name",
  },
  {
    given: { exe: GIT, realExe: null, invokedIsPlantable: true },
    path: [false, true],
    name: [false, true],
    because: "planted, and nothing else is known",
  },
  {
    given: { exe: GIT, invokedIsPlantable: true, realIsPlantable: true },
    path: [true, true],
    name: [false, true],
    because: "the policy lets the agent write there, and names the path",
  },
  {
    given: { exe: GIT, realExe: "/work/anything", realIsPlantable: true },
    path: [true, true],
    name: [false, true],
    because: "a system's link to a file that the agent may write",
  },
  {
    given: { exe: "/work/x", aliases: [GIT], invokedIsPlantable: true },
    path: [false, true],
    name: [false, true],
    because: "a hard link convicts and does not vouch",
  },
];

test.each(cases)("names: $because", ({ given, path, name }) => {
  const rules = [
    ['exe = "/usr/bin/git"', path],
    ['exe_glob = "/usr/bin/gi[t]"', path],
    ['exe_glob = "/usr/{x,bin}/git"', path],
    ['exe_basename = "git"', name],
    ['exe_glob = "**/git"', name],
    ['exe_glob = "/**/git"', name],
    ['exe_glob = "/**git"', name],
    ['exe_glob = "{/opt/x,**}/git"', name],
    ['exe_glob = "/{opt,**}/git"', name],
  ] as const;
  for (const [rule, [allow, deny]] of rules) {
    const matches = (action: "allow" | "deny", text: string): boolean =>
      oneRule(action, text).decide(request(given)).ruleId === "r";
    expect([rule, "allow", matches("allow", rule)]).toEqual([rule, "allow", allow]);
    expect([rule, "deny", matches("deny", rule)]).toEqual([rule, "deny", deny]);
    // With `_not`, an allow needs that no name matches, a deny that the match is not proved.
    const not = rule.replace(" =", "_not =");
    expect([not, "allow", matches("allow", not)]).toEqual([not, "allow", !deny]);
    expect([not, "deny", matches("deny", not)]).toEqual([not, "deny", !allow]);
  }
});

test("globs of everything say nothing of names, so planted files match them", () => {
  const planted = request({ exe: "/work/a", invokedIsPlantable: true, realIsPlantable: true });
  for (const glob of ["**", "/**", "**/*", "/work/**"]) {
    const verdict = oneRule("allow", `exe_glob = "${glob}"`).decide(planted);
    expect([glob, verdict.action]).toEqual([glob, "allow"]);
  }
});

const memfd = request({ exe: "/proc/self/fd/3", realExe: "memfd:x", realKind: "memfd" });
const gone = request({ exe: GIT, realExe: `${GIT} (deleted)`, realKind: "deleted" });

test.each([
  { rule: 'exe_glob = "/**"', memfd: false, gone: false },
  { rule: 'exe_glob = "**"', memfd: false, gone: false },
  { rule: "", memfd: false, gone: false },
  { rule: 'exe = "/proc/self/fd/3"', memfd: false, gone: false },
  { rule: 'exe = "/usr/bin/git"', memfd: false, gone: false },
  { rule: 'exe = "memfd:x"', memfd: true, gone: false },
  { rule: 'exe = "/memfd:x"', memfd: true, gone: false },
  { rule: 'exe = "/memfd:x (deleted)"', memfd: true, gone: false },
  { rule: 'exe = "memfd:y"', memfd: false, gone: false },
  { rule: 'exe_glob = "memfd:*"', memfd: true, gone: false },
  { rule: 'exe_glob = "/memfd:*"', memfd: true, gone: false },
  { rule: 'exe_glob = "/memfd:* (deleted)"', memfd: true, gone: false },
  { rule: 'exe_glob = ["/**", "memfd:y"]', memfd: false, gone: false },
  { rule: 'exe = "/usr/bin/git (deleted)"', memfd: false, gone: true },
  { rule: 'exe_glob = "/usr/bin/* (deleted)"', memfd: false, gone: true },
  { rule: 'exe_not = "memfd:y"', memfd: false, gone: false },
  { rule: 'exe = "memfd:x"\nuid = 1', memfd: false, gone: false },
])("programs without a file need a rule that names them: $rule", ({ rule, ...matches }) => {
  const policy = compiled(
    `[meta]\ndefault_action = "allow"\n[[rule]]\nid = "r"\naction = "allow"\n${rule}\n`,
  );
  expect(policy.decide(memfd).ruleId).toBe(matches.memfd ? "r" : "builtin:memfd");
  expect(policy.decide(memfd).action).toBe(matches.memfd ? "allow" : "deny");
  expect(policy.decide(gone).ruleId).toBe(matches.gone ? "r" : "builtin:deleted");
  expect(policy.decide(gone).action).toBe(matches.gone ? "allow" : "deny");
});

test("a deny meets programs without a file under the name they had", () => {
  const allowAll =
    '[[rule]]\nid = "all"\naction = "allow"\nexe_glob = ["memfd:*", "/** (deleted)"]\n';
  for (const rule of names) {
    const policy = compiled(`[[rule]]\nid = "r"\naction = "deny"\n${rule}\n${allowAll}`);
    expect([rule, policy.decide(gone).ruleId]).toEqual([rule, "r"]);
    const named = request({ ...memfd, realExe: "memfd:/usr/bin/git" });
    expect([rule, policy.decide(named).ruleId]).toEqual([rule, "r"]);
    expect(policy.decide(memfd).ruleId).toBe("all");
  }
});

test("a memfd does not pass for the program that it is named after", () => {
  const posing = request({ ...memfd, realExe: "memfd:/usr/bin/git" });
  for (const rule of [...names, ...placed]) {
    expect(oneRule("allow", rule).decide(posing).action).toBe("deny");
  }
});
