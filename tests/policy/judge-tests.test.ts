// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies have variables of their own
import { expect, test } from "bun:test";
import { parsePolicy } from "../../src/policy/parse-policy.ts";
import { err } from "../../src/policy/result.ts";
import { parse } from "./policy-fixture.ts";

const policy = `[meta]
default_action = "deny"
[[rule]]
id = "git"
action = "allow"
exe = "/usr/bin/git"
argv_regex_not = 'push'
[[rule]]
id = "here"
action = "allow"
cwd_glob = "/work/**"
uid = 7
[[rule]]
id = "make"
action = "allow"
parent_exe = "/usr/bin/make"
parent_argv = '^make all'
`;

function failures(lines: string): string[] {
  const result = parse(`${policy}[[test]]\n${lines}\n`, { env: { W: "/work" } });
  return result.ok ? [] : result.error.map(({ message }) => message);
}

test.each([
  { lines: 'argv = ["git", "log"]\nexpect = "allow"', because: "a bare name is in /usr/bin" },
  { lines: 'argv = ["/usr/bin/git"]\nexpect = "allow"', because: "a path is itself" },
  { lines: 'argv = ["/usr/bin/./git"]\nexpect = "allow"', because: "folded" },
  { lines: 'argv = ["/bin/git"]\nexpect = "deny"', because: "another path" },
  { lines: 'argv = ["./git"]\ncwd = "/usr/bin"\nexpect = "allow"', because: "relative to cwd" },
  { lines: 'argv = ["g"]\nexe = "/usr/bin/git"\nexpect = "allow"', because: "exe over argv[0]" },
  { lines: 'argv = ["git"]\nexe = "/bin/x"\nexpect = "deny"', because: "exe over argv[0]" },
  { lines: 'argv = ["x"]\ncwd = "/work"\nuid = 7\nexpect = "allow"', because: "cwd and uid" },
  { lines: 'argv = ["x"]\ncwd = "${W}/a"\nuid = 7\nexpect = "allow"', because: "variables" },
  { lines: 'argv = ["x"]\ncwd = "/work"\nexpect = "deny"', because: "another uid" },
  { lines: 'argv = ["x"]\nparent = ["make", "all"]\nexpect = "allow"', because: "a parent" },
  { lines: 'argv = ["x"]\nparent = "/usr/bin/make"\nexpect = "deny"', because: "no arguments" },
  { lines: 'argv = ["x"]\nparent = ["make"]\nexpect = "deny"', because: "other arguments" },
  { lines: 'argv = ["git"]\nexpect = "allow"\nrule = "git"', because: "the rule that decides" },
  { lines: 'argv = ["x"]\nexpect = "deny"\nrule = "default"', because: "the default decides" },
])("[[test]] passes: $because", ({ lines }) => {
  expect(failures(lines)).toEqual([]);
});

test.each([
  {
    lines: 'argv = ["git", "push"]\nexpect = "allow"',
    says: 'test failed: expected allow, got deny by default_action, for ["git","push"]',
  },
  {
    lines: 'argv = ["git"]\nexpect = "deny"',
    says: 'test failed: expected deny, got allow by rule "git", for ["git"]',
  },
  {
    lines: 'argv = ["git"]\nexpect = "allow"\nrule = "here"',
    says: 'test failed: expected allow by rule "here", got allow by rule "git", for ["git"]',
  },
  {
    lines: 'argv = ["git"]\nexpect = "allow"\nrule = "gitt"',
    says: 'the test names rule "gitt", which does not exist',
  },
])("[[test]] fails: $says", ({ lines, says }) => {
  expect(failures(lines)).toEqual([says]);
});

test("a failing test says which key kept its rule from matching, or where the other stands", () => {
  const hint = (lines: string): string | null | undefined => {
    const result = parse(`${policy}[[test]]\n${lines}\n`);
    return result.ok ? undefined : result.error[0]?.hint;
  };
  expect(hint('argv = ["git", "push"]\nexpect = "allow"\nrule = "git"')).toBe(
    'rule "git" does not match because of its key `argv_regex_not`',
  );
  expect(hint('argv = ["git"]\nexpect = "deny"')).toBe('rule "git" stands at p.toml:4');
  expect(hint('argv = ["git"]\nexpect = "allow"\nrule = "gitt"')).toBe('did you mean "git"?');
});

test("every failing test is reported", () => {
  const failing = '[[test]]\nargv = ["x"]\nexpect = "allow"\n';
  const result = parse(policy + failing + failing);
  expect(result.ok ? 0 : result.error.length).toBe(2);
});

test("files whose tests were judged before are read without them", () => {
  const text = `${policy}[[test]]\nargv = ["x"]\nexpect = "allow"\n`;
  const skip = (skipped: string): boolean =>
    parsePolicy(
      { name: "builtin:x", text },
      {
        env: () => undefined,
        home: undefined,
        readBase: () => err("none"),
        skipTests: (name) => name === skipped,
      },
    ).ok;
  expect(skip("builtin:x")).toBe(true);
  expect(skip("builtin:y")).toBe(false);
});
