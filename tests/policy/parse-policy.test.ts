// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies have variables of their own
import { expect, test } from "bun:test";
import { compilePolicy } from "../../src/policy/compile-policy.ts";
import { compiled, oneRule, parse, parsed, place, request } from "./policy-fixture.ts";

test("settings that are left out have the strict value", () => {
  const { policy, warnings } = parsed('[[rule]]\nid = "r"\naction = "allow"\nexe = "/x"\n');
  expect(policy.meta).toEqual({
    version: 1,
    defaultAction: "deny",
    onPolicyError: "deny",
    onSupervisorTimeoutMs: 10_000,
  });
  expect(policy.filesystem).toBeNull();
  expect(policy.audit.onError).toBe("stop");
  expect(warnings).toEqual([]);
});

test("everything that may be set is read", () => {
  const { policy } = parsed(
    `[meta]
version = 1
default_action = "allow"
on_policy_error = "allow"
on_supervisor_timeout_ms = 250
[audit]
on_error = "continue"
[filesystem]
read_globs = ["/a/**", "~/x", "~", ".", "src/**"]
write_globs = "/b"
allow_globs = "\${D}/x"
exec_globs = []
deny_globs = ["**/.env"]
require_enforced = false
no_bootstrap_reads = true
create_missing = true
noexec = true
`,
    { env: { D: "/d[1]" } },
  );
  const { filesystem, ...rest } = policy;
  expect(rest.meta).toEqual({
    version: 1,
    defaultAction: "allow",
    onPolicyError: "allow",
    onSupervisorTimeoutMs: 250,
  });
  expect(rest.audit.onError).toBe("continue");
  const globs = (grants = filesystem?.read): string[] => grants?.map(({ glob }) => glob) ?? [];
  expect(globs()).toEqual(["/a/**", "/home/ann/x", "/home/ann", ".", "src/**"]);
  expect(globs(filesystem?.write)).toEqual(["/b"]);
  expect(globs(filesystem?.allow)).toEqual(["/d\\[1\\]/x"]);
  expect(globs(filesystem?.exec)).toEqual([]);
  expect(globs(filesystem?.deny)).toEqual(["**/.env"]);
  expect(filesystem?.write[0]?.span?.line).toBe(10);
  const { requireEnforced, noBootstrapReads, createMissing, noexec } = filesystem ?? {};
  expect([requireEnforced, noBootstrapReads, createMissing, noexec]).toEqual([
    false,
    true,
    true,
    true,
  ]);
});

test("an empty [filesystem] asks for the layer", () => {
  expect(parsed("[filesystem]\n").policy.filesystem).toMatchObject({
    read: [],
    requireEnforced: true,
    noBootstrapReads: false,
    createMissing: false,
    noexec: false,
  });
});

test("`~` without a home directory is an error", () => {
  const result = parse('[filesystem]\nread_globs = "~/x"\n', { home: undefined });
  expect(result.ok ? [] : result.error.map(place)).toEqual(["undefined-variable p.toml:2:14+5"]);
});

test.each([
  { rule: 'exe = "/${V}"', value: "a*b", yes: "/a*b", no: "/axb" },
  { rule: 'exe_basename = "${V}"', value: "a[b]", yes: "/a[b]", no: "/ab" },
  { rule: 'exe_glob = "/${V}/*"', value: "a*", yes: "/a*/x", no: "/ab/x" },
  { rule: 'exe_glob = "/${V}/*"', value: "{a,b}", yes: "/{a,b}/x", no: "/a/x" },
  { rule: 'exe_glob = "/${V}/${V}"', value: "a", yes: "/a/a", no: "/a/b" },
  { rule: 'exe_glob = "/${V}"', value: "${V}", yes: "/${V}", no: "/a" },
  { rule: 'exe = "/$${V}"', value: "a", yes: "/${V}", no: "/a" },
  { rule: 'exe = "/$V"', value: "a", yes: "/$V", no: "/a" },
  { rule: 'exe = "/$$V"', value: "a", yes: "/$$V", no: "/a" },
])("${VAR} is inserted as text: $rule", ({ rule, value, yes, no }) => {
  const policy = oneRule("allow", rule, { env: { V: value } });
  expect(policy.decide(request({ exe: yes })).action).toBe("allow");
  expect(policy.decide(request({ exe: no })).action).toBe("deny");
});

test("${VAR} is text in regular expressions, directories and parents as well", () => {
  const env = { V: "/a.b" };
  const regex = oneRule("allow", "argv_regex = '^x ${V}$'", { env });
  expect(regex.decide(request({ argv: ["x", "/a.b"] })).action).toBe("allow");
  expect(regex.decide(request({ argv: ["x", "/axb"] })).action).toBe("deny");
  const cwd = oneRule("allow", 'cwd_glob = "${V}/**"', { env: { V: "/a*" } });
  expect(cwd.decide(request({ cwd: "/a*" })).action).toBe("allow");
  expect(cwd.decide(request({ cwd: "/ab" })).action).toBe("deny");
  const parent = oneRule("allow", 'parent_exe = "${V}"', { env: { V: "/a*" } });
  const from = (exe: string) => request({ parent: { exe, argv: [], trusted: true } });
  expect(parent.decide(from("/a*")).action).toBe("allow");
  expect(parent.decide(from("/ab")).action).toBe("deny");
});

test("inline tables, dotted and quoted keys are read like headers", () => {
  const policy = compiled(
    'meta.default_action = "allow"\n' +
      'rule = [{ id = "a", action = "deny", "exe_basename" = ["x", "y"] }]\n',
  );
  expect(policy.decide(request({ exe: "/bin/y" })).ruleId).toBe("a");
  expect(policy.decide(request({ exe: "/bin/z" })).action).toBe("allow");
});

test("the seed's example works as it says", () => {
  const policy = compiled(`[meta]
version = 1
default_action = "deny"          # fail-closed
on_policy_error = "deny"
on_supervisor_timeout_ms = 250

[[rule]]
id = "allow-readonly-git"
action = "allow"
exe_basename = "git"
argv_regex = '^git (status|log|diff)( |$)'

[[rule]]
id = "deny-rm-rf-root"
action = "deny"
exe_basename = "rm"
argv_regex = '(^|\\s)-[a-zA-Z]*[rRf][a-zA-Z]*\\s+/(\\s|$)'
`);
  const rule = (...argv: string[]): string =>
    policy.decide(request({ exe: `/usr/bin/${argv[0]}`, argv })).ruleId;
  expect(rule("git", "status")).toBe("allow-readonly-git");
  expect(rule("git", "push")).toBe("default");
  expect(rule("rm", "-rf", "/")).toBe("deny-rm-rf-root");
  expect(rule("rm", "-rf", "/tmp")).toBe("default");
});

const base = `[meta]
default_action = "allow"
on_supervisor_timeout_ms = 5
[audit]
on_error = "continue"
[filesystem]
read_globs = "/base"
noexec = true
[[rule]]
id = "base"
action = "deny"
exe_basename = ["a", "b"]
[[test]]
argv = ["a"]
expect = "deny"
`;
const child = `extends = ["base", "./second"]
[meta]
on_supervisor_timeout_ms = 7
[filesystem]
read_globs = "/child"
create_missing = true
noexec = false
[[rule]]
id = "child"
action = "allow"
exe = "/usr/bin/a"
[[test]]
argv = ["a"]
expect = "allow"
rule = "child"
`;
const second = '[[rule]]\nid = "second"\naction = "deny"\nexe_basename = "c"\n';

test("extends: own rules first, then the bases' in order; own settings win", () => {
  const { policy, warnings } = parsed(child, { bases: { base, "./second": second } });
  expect(policy.rules.map(({ id, span }) => [id, span.file])).toEqual([
    ["child", "p.toml"],
    ["base", "base"],
    ["second", "./second"],
  ]);
  expect(policy.meta).toMatchObject({ defaultAction: "allow", onSupervisorTimeoutMs: 7 });
  expect(policy.audit.onError).toBe("continue");
  expect(policy.filesystem).toMatchObject({ noexec: false, createMissing: true });
  expect(policy.filesystem?.read.map(({ glob }) => glob)).toEqual(["/child", "/base"]);
  expect(policy.tests).toHaveLength(1);
  expect(policy.name).toBe("p.toml");
  expect(warnings).toEqual([]);
  const decide = compilePolicy(policy).decide;
  expect(decide(request({ exe: "/usr/bin/a" })).ruleId).toBe("child");
  expect(decide(request({ exe: "/usr/bin/b" })).ruleId).toBe("base");
  expect(decide(request({ exe: "/usr/bin/c" })).ruleId).toBe("second");
});

test("extends alone is a policy, and may stand below [meta]", () => {
  expect(parsed('extends = "base"', { bases: { base } }).policy.rules).toHaveLength(1);
  expect(parsed('[meta]\nextends = "base"', { bases: { base } }).policy.rules).toHaveLength(1);
});

test("a base that two bases share counts once", () => {
  const bases = { base, x: 'extends = "base"\n', y: 'extends = "base"\n' };
  expect(parsed('extends = ["x", "y"]', { bases }).policy.rules).toHaveLength(1);
});

test.each([
  { bases: { "p.toml": "" }, text: 'extends = "p.toml"', at: ["extends-cycle p.toml:1:11+8"] },
  {
    bases: { x: 'extends = "y"', y: '# y\nextends = ["x"]' },
    text: 'extends = "x"',
    at: ["extends-cycle y:2:12+3"],
  },
  { bases: { x: 'extends = "no"' }, text: 'extends = "x"', at: ["extends-missing x:1:11+4"] },
  {
    bases: { x: "[[rule]]\nid = 1", y: "a = " },
    text: 'extends = ["x", "y"]\nz = 1',
    at: [
      "unknown-key p.toml:2:1+1",
      "missing-key x:1:3+4",
      "wrong-type x:2:6+1",
      "toml-syntax y:1:5+1",
    ],
  },
  { bases: { x: "# nothing\n" }, text: 'extends = "x"', at: ["empty-policy x:1:1+1"] },
  {
    bases: { x: '[[rule]]\nid = "a"\naction = "deny"' },
    text: 'extends = "x"\n[[rule]]\nid = "a"\naction = "allow"',
    at: ["duplicate-id p.toml:3:6+3"],
  },
  {
    bases: { x: '[meta]\ndefault_action = "allow"\n[[test]]\nargv = ["a"]\nexpect = "deny"' },
    text: 'extends = "x"\n[meta]\ndefault_action = "deny"',
    at: ["test-failed x:5:10+6"],
  },
])("extends: $at", ({ bases, text, at }) => {
  const result = parse(text, { bases });
  expect(result.ok ? [] : result.error.map(place)).toEqual([...at]);
});

test("bases without end are refused", () => {
  const bases: Record<string, string> = {};
  for (let i = 0; i < 100; i++) bases[`b${i}`] = `extends = "b${i + 1}"`;
  const result = parse('extends = "b0"', { bases });
  expect(result.ok ? [] : result.error.map(({ code }) => code)).toEqual(["extends-cycle"]);
});

test("the message of a circle shows the way round", () => {
  const result = parse('extends = "x"', { bases: { x: 'extends = "y"', y: 'extends = "x"' } });
  expect(result.ok ? "" : result.error[0]?.message).toBe("the policy extends itself: x -> y -> x");
});
