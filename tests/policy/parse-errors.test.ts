// long: one row an error, and each row pins its whole diagnostic.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies have variables of their own
/** Every error of a policy file: its code, where the caret stands, what it says, the hint. */
import { expect, test } from "bun:test";
import { parse, place } from "./policy-fixture.ts";

const rule = (lines: string): string => `[[rule]]\nid = "r"\naction = "deny"\n${lines}\n`;
const meta = (lines: string): string => `[meta]\ndefault_action = "deny"\n${lines}\n`;
const grants = (lines: string): string => `[filesystem]\n${lines}\n`;
const example = (lines: string): string => `${meta("")}[[test]]\n${lines}\n`;

interface Case {
  readonly text: string;
  readonly at: string;
  readonly says: string;
  readonly hint: string | null;
}

const table: Case[] = [
  // Syntax
  { text: "a = ", at: "toml-syntax p.toml:1:5+1", says: "not valid TOML: Unspecified", hint: null },
  { text: "[meta\n", at: "toml-syntax p.toml:2:1+1", says: "not valid TOML", hint: null },
  {
    text: meta("version = 1\nversion = 1"),
    at: "toml-syntax p.toml:4:1+1",
    says: "multiple times",
    hint: null,
  },
  {
    text: rule('argv_regex = "\\d"'),
    at: "toml-syntax p.toml:4:16+1",
    says: "escape",
    hint: "'single-quoted'",
  },
  // Nothing in it
  { text: "", at: "empty-policy p.toml:1:1+1", says: "says nothing", hint: "default_action" },
  { text: "# x\n\n", at: "empty-policy p.toml:1:1+1", says: "says nothing", hint: "--policy" },
  { text: "[meta]\nversion = 1", at: "empty-policy p.toml:1:1+1", says: "nothing", hint: "" },
  // Tables and keys
  {
    text: `${meta("")}[[rules]]\nid = "x"`,
    at: "unknown-table p.toml:4:3+5",
    says: "no table [rules]",
    hint: "did you mean [[rule]]?",
  },
  { text: `${meta("")}[zzz]`, at: "unknown-table p.toml:4:2+3", says: "[zzz]", hint: "[[rule]]" },
  {
    text: `default_action = "deny"\n${meta("")}`,
    at: "unknown-key p.toml:1:1+14",
    says: "`default_action` stands outside of any table",
    hint: "put `default_action` below [meta]",
  },
  {
    text: meta('on_polcy_error = "deny"'),
    at: "unknown-key p.toml:3:1+14",
    says: "[meta] has no key `on_polcy_error`",
    hint: "did you mean `on_policy_error`?",
  },
  {
    text: rule('exe_basenam = "x"'),
    at: "unknown-key p.toml:4:1+11",
    says: "[[rule]] has no key `exe_basenam`",
    hint: "did you mean `exe_basename`?",
  },
  {
    text: rule('not_exe = "/x"'),
    at: "unknown-key p.toml:4:1+7",
    says: "not_exe",
    hint: "`exe_not`",
  },
  { text: rule("zzzzz = 1"), at: "unknown-key p.toml:4:1+5", says: "zzzzz", hint: null },
  { text: grants("read_glob = []"), at: "unknown-key p.toml:2:1+9", says: "", hint: "read_globs" },
  {
    text: `${meta("")}[audit]\non_err = 1`,
    at: "unknown-key p.toml:5:1+6",
    says: "[audit]",
    hint: "",
  },
  {
    text: example('argv = ["x"]\nexpect = "deny"\nargs = 1'),
    at: "unknown-key p.toml:7:1+4",
    says: "[[test]] has no key `args`",
    hint: "did you mean `argv`?",
  },
  {
    text: '[[rule]]\naction = "deny"',
    at: "missing-key p.toml:1:3+4",
    says: "[[rule]] has no `id`",
    hint: "add id =",
  },
  {
    text: '[[rule]]\nid = "x"',
    at: "missing-key p.toml:1:3+4",
    says: "`action`",
    hint: "add action",
  },
  {
    text: example('expect = "deny"'),
    at: "missing-key p.toml:4:3+4",
    says: "`argv`",
    hint: "add argv",
  },
  {
    text: example('argv = ["x"]'),
    at: "missing-key p.toml:4:3+4",
    says: "`expect`",
    hint: "add expect",
  },
  // Types
  {
    text: `meta = 1\n${rule("")}`,
    at: "wrong-type p.toml:1:8+1",
    says: "a table, not an integer",
    hint: "",
  },
  {
    text: '[rule]\nid = "x"',
    at: "wrong-type p.toml:1:2+4",
    says: "a list of tables",
    hint: "[[rule]]",
  },
  { text: "rule = [1]", at: "wrong-type p.toml:1:9+1", says: "must hold tables", hint: "[[rule]]" },
  {
    text: "[meta]\ndefault_action = true",
    at: "wrong-type p.toml:2:18+4",
    says: "`default_action` must be a string, not a boolean",
    hint: null,
  },
  { text: meta('version = "1"'), at: "wrong-type p.toml:3:11+3", says: "an integer", hint: null },
  {
    text: meta("on_supervisor_timeout_ms = 1.5"),
    at: "wrong-type p.toml:3:28+3",
    says: "must be an integer, not a float",
    hint: null,
  },
  {
    text: rule('exe_basename = ["a", 3]'),
    at: "wrong-type p.toml:4:22+1",
    says: "a string or a list of strings, not an integer",
    hint: null,
  },
  { text: rule("exe = { a = 1 }"), at: "wrong-type p.toml:4:7+9", says: "not a table", hint: null },
  {
    text: rule('uid = "root"'),
    at: "wrong-type p.toml:4:7+6",
    says: "an integer or a list",
    hint: null,
  },
  {
    text: rule("reason = 2024-01-01"),
    at: "wrong-type p.toml:4:10+10",
    says: "not a date",
    hint: null,
  },
  { text: grants("noexec = 1"), at: "wrong-type p.toml:2:10+1", says: "true or false", hint: null },
  { text: grants("read_globs = [1]"), at: "wrong-type p.toml:2:15+1", says: "strings", hint: null },
  { text: "extends = 1", at: "wrong-type p.toml:1:11+1", says: "a string or a list", hint: null },
  {
    text: example('argv = "ls -l"\nexpect = "deny"'),
    at: "wrong-type p.toml:5:8+7",
    says: "a list of strings, not a string",
    hint: null,
  },
  // Values
  {
    text: '[[rule]]\nid = "r"\naction = "alow"',
    at: "bad-value p.toml:3:10+6",
    says: '`action` must be "allow" or "deny", not "alow"',
    hint: 'did you mean "allow"?',
  },
  {
    text: meta('on_policy_error = "ask"'),
    at: "bad-value p.toml:3:19+5",
    says: '"ask"',
    hint: null,
  },
  {
    text: meta("on_supervisor_timeout_ms = 0"),
    at: "bad-value p.toml:3:28+1",
    says: "must be from 1 to 600000, not 0",
    hint: null,
  },
  {
    text: meta("on_supervisor_timeout_ms = 600001"),
    at: "bad-value p.toml:3:28+6",
    says: "",
    hint: null,
  },
  {
    text: `${meta("")}[audit]\non_error = "go"`,
    at: "bad-value p.toml:5:12+4",
    says: '"stop"',
    hint: null,
  },
  {
    text: '[[rule]]\nid = "a b"\naction = "deny"',
    at: "bad-value p.toml:2:6+5",
    says: '"a b" is no rule id',
    hint: "letters",
  },
  {
    text: '[[rule]]\nid = ""\naction = "deny"',
    at: "bad-value p.toml:2:6+2",
    says: "no rule id",
    hint: "",
  },
  {
    text: '[[rule]]\nid = "default"\naction = "deny"',
    at: "bad-value p.toml:2:6+9",
    says: "taken by Faraday's own verdicts",
    hint: "choose another id",
  },
  {
    text: '[[rule]]\nid = "builtin:x"\naction = "deny"',
    at: "bad-value p.toml:2:6+11",
    says: "",
    hint: "",
  },
  {
    text: rule("exe = []"),
    at: "bad-value p.toml:4:7+2",
    says: "an empty list",
    hint: "leave the key out",
  },
  {
    text: rule('argv_contains = ""'),
    at: "bad-value p.toml:4:17+2",
    says: "an empty string",
    hint: null,
  },
  {
    text: rule('argv_contains = "\\u0000"'),
    at: "bad-value p.toml:4:17+8",
    says: "NUL",
    hint: null,
  },
  {
    text: rule('exe = "git"'),
    at: "bad-value p.toml:4:7+5",
    says: "must be an absolute path",
    hint: 'write exe = "/usr/bin/git" or exe_basename = "git"',
  },
  {
    text: rule('exe = "/usr/bin/../git"'),
    at: "bad-value p.toml:4:7+17",
    says: "no program is ever called",
    hint: 'write exe = "/usr/git"',
  },
  {
    text: rule('exe_basename = "/usr/bin/git"'),
    at: "bad-value p.toml:4:16+14",
    says: "a basename has no `/`",
    hint: 'write exe = "/usr/bin/git"',
  },
  { text: rule("uid = -1"), at: "bad-value p.toml:4:7+2", says: "-1 is no user id", hint: null },
  { text: rule("uid = 4294967295"), at: "bad-value p.toml:4:7+10", says: "no user id", hint: null },
  {
    text: example('argv = []\nexpect = "deny"'),
    at: "bad-value p.toml:5:8+2",
    says: "at least the program's name",
    hint: null,
  },
  {
    text: example('argv = ["x"]\ncwd = "a"\nexpect = "deny"'),
    at: "bad-value p.toml:6:7+3",
    says: "an absolute path",
    hint: null,
  },
  {
    text: rule('exe = "/${A"'),
    at: "bad-value p.toml:4:9+3",
    says: "is not a variable",
    hint: "$${",
  },
  {
    text: rule('exe = "/${1}"'),
    at: "bad-value p.toml:4:9+4",
    says: "is not a variable",
    hint: "",
  },
  // Patterns
  {
    text: rule("argv_regex = ['a', '(']"),
    at: "bad-regex p.toml:4:20+3",
    says: "bad regular expression: missing closing )",
    hint: null,
  },
  {
    text: rule("argv_regex = '(?=a)'"),
    at: "bad-regex p.toml:4:14+7",
    says: "",
    hint: "no lookaround",
  },
  {
    text: rule("parent_argv = '(?m)^a'"),
    at: "bad-regex p.toml:4:15+8",
    says: "flag `m`",
    hint: "remove",
  },
  {
    text: rule('exe_glob = "/a["'),
    at: "bad-glob p.toml:4:12+5",
    says: "never closed",
    hint: "\\[",
  },
  {
    text: rule('exe_glob = "bin/*"'),
    at: "bad-glob p.toml:4:12+7",
    says: "`exe_glob` must start with",
    hint: '"**/bin/*"',
  },
  {
    text: rule('cwd_glob = "~/x"'),
    at: "bad-glob p.toml:4:12+5",
    says: "cwd_glob",
    hint: "${HOME}/x",
  },
  {
    text: rule('cwd_glob = "/x/"'),
    at: "bad-glob p.toml:4:12+5",
    says: "do not end in",
    hint: '"/x/**"',
  },
  {
    text: rule('exe_glob = "/a/../b"'),
    at: "bad-glob p.toml:4:12+9",
    says: "no path matches",
    hint: "",
  },
  { text: rule('parent_exe = "a{"'), at: "bad-glob p.toml:4:14+4", says: "never closed", hint: "" },
  { text: rule('parent_exe = "a/b"'), at: "bad-glob p.toml:4:14+5", says: "parent_exe", hint: "" },
  {
    text: grants('write_globs = ["/a", "/a/../b"]'),
    at: "bad-glob p.toml:2:22+9",
    says: '`..` in a grant: "/a/../b"',
    hint: "write the path that is meant",
  },
  { text: grants('read_globs = ".."'), at: "bad-glob p.toml:2:14+4", says: "`..`", hint: "" },
  {
    text: grants("read_globs = '/a/\\.\\./b'"),
    at: "bad-glob p.toml:2:14+11",
    says: "`..`",
    hint: "",
  },
  {
    text: grants('read_globs = "~bob/x"'),
    at: "bad-glob p.toml:2:14+8",
    says: "your own",
    hint: "~/",
  },
  { text: grants('read_globs = ""'), at: "bad-glob p.toml:2:14+2", says: "empty", hint: null },
  {
    text: grants('deny_globs = "/a["'),
    at: "bad-glob p.toml:2:14+5",
    says: "never closed",
    hint: "",
  },
  {
    text: rule('argv_host_any = ["ok.org", "https://x"]'),
    at: "bad-host p.toml:4:28+11",
    says: 'bad host "https://x": a host has no scheme',
    hint: '"*.example.com"',
  },
  // Variables
  {
    text: rule('exe_glob = "${NOPE}/bin/*"'),
    at: "undefined-variable p.toml:4:13+7",
    says: "the environment variable NOPE is not set",
    hint: "set NOPE, or write `$${NOPE}`",
  },
  {
    text: rule('exe = "/a/$${B}/${B}"'),
    at: "undefined-variable p.toml:4:17+4",
    says: "B is",
    hint: "",
  },
  {
    text: rule('exe = "/${EMPTY}"'),
    at: "undefined-variable p.toml:4:9+8",
    says: "is empty",
    hint: "",
  },
  {
    text: grants('read_globs = "é${X}"'),
    at: "undefined-variable p.toml:2:16+4",
    says: "X is",
    hint: "",
  },
  {
    text: example('argv = ["${X}"]\nexpect = "deny"'),
    at: "undefined-variable p.toml:5:10+4",
    says: "X is not set",
    hint: "",
  },
  // The whole
  {
    text: `${rule("")}[[rule]]\nid = "r"\naction = "allow"`,
    at: "duplicate-id p.toml:6:6+3",
    says: 'the id "r" is used twice',
    hint: "the first is on line 2",
  },
  {
    text: meta("version = 2"),
    at: "unsupported-version p.toml:3:11+1",
    says: "this is version 2 of the policy format",
    hint: "write version = 1",
  },
  {
    text: 'extends = ["./no.toml"]',
    at: "extends-missing p.toml:1:12+11",
    says: 'cannot read the base "./no.toml": no such file',
    hint: "builtin:",
  },
  { text: '[meta]\nextends = "x"', at: "extends-missing p.toml:2:11+3", says: '"x"', hint: "" },
  {
    text: example('argv = ["ls"]\nexpect = "allow"'),
    at: "test-failed p.toml:6:10+7",
    says: 'expected allow, got deny by default_action, for ["ls"]',
    hint: null,
  },
];

test.each(table)("parsePolicy() reports $at ($says)", ({ text, at, says, hint }) => {
  const result = parse(text, { env: { EMPTY: "" } });
  const errors = result.ok ? [] : result.error;
  expect(errors.map(place)).toEqual([at]);
  const [error] = errors;
  expect(error?.severity).toBe("error");
  expect(error?.message).toContain(says);
  if (hint === null) expect(error?.hint).toBeNull();
  else expect(error?.hint).toContain(hint);
  const line = text.split("\n")[(error?.span?.line ?? 0) - 1];
  expect(error?.span?.text).toBe(line ?? "");
});

test("every mistake is reported at once, from the top down", () => {
  const text = `extends = "nope"
foo = 1
[meta]
version = 3
default_acton = "deny"
[[rule]]
id = "a"
action = "alow"
exe_basename = ["x", 3, "y/z"]
argv_regex = ['(', 'ok', '[']
[[rule]]
id = "a"
exe = "\${A}\${B}"
[filesystem]
read_globs = ["/a/../b", "\${C}"]
[networking]
`;
  const result = parse(text);
  expect(result.ok ? [] : result.error.map(place)).toEqual([
    "extends-missing p.toml:1:11+6",
    "unknown-key p.toml:2:1+3",
    "unsupported-version p.toml:4:11+1",
    "unknown-key p.toml:5:1+13",
    "bad-value p.toml:8:10+6",
    "wrong-type p.toml:9:22+1",
    "bad-value p.toml:9:25+5",
    "bad-regex p.toml:10:15+3",
    "bad-regex p.toml:10:26+3",
    "missing-key p.toml:11:3+4",
    "duplicate-id p.toml:12:6+3",
    "undefined-variable p.toml:13:8+4",
    "undefined-variable p.toml:13:12+4",
    "bad-glob p.toml:15:15+9",
    "undefined-variable p.toml:15:27+4",
    "unknown-table p.toml:16:2+10",
  ]);
});

test("columns count characters, also behind an emoji, a tab and a byte order mark", () => {
  const at = (text: string): string[] => {
    const result = parse(text);
    return result.ok ? [] : result.error.map(place);
  };
  expect(at(rule('exe = ["/😀😀", 3]'))).toEqual(["wrong-type p.toml:4:15+1"]);
  expect(at(rule("\texe = 3"))).toEqual(["wrong-type p.toml:4:8+1"]);
  expect(at("\ufeffextends = 3")).toEqual(["wrong-type p.toml:1:11+1"]);
  expect(at('[[rule]]\r\nid = "r"\r\naction = 3\r\n')).toEqual(["wrong-type p.toml:3:10+1"]);
});

test("a caret under what spans lines ends with its first line", () => {
  const result = parse(rule("exe = '''\n/a\nb'''"));
  const other = parse(rule("uid = [\n1,\n'x'\n]"));
  expect(result.ok).toBe(true);
  expect(other.ok ? [] : other.error.map(place)).toEqual(["wrong-type p.toml:6:1+3"]);
  const table = parse(rule("reason = [\n1,\n2]"));
  expect(table.ok ? [] : table.error.map(place)).toEqual(["wrong-type p.toml:4:10+1"]);
});

test("names that JavaScript objects have are only unknown keys", () => {
  const result = parse(`${meta("")}[__proto__]\nx = 1\n[constructor]\n`);
  expect(result.ok ? [] : result.error.map(place)).toEqual([
    "unknown-table p.toml:4:2+9",
    "unknown-table p.toml:6:2+11",
  ]);
});
