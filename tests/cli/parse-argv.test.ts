import { describe, expect, test } from "bun:test";
import type { Invocation } from "../../src/cli/invocation.ts";
import { parseArgv } from "../../src/cli/parse-argv.ts";

const RUN = {
  command: "run",
  policy: null,
  audit: null,
  read: [],
  write: [],
  allow: [],
  explainDenials: false,
  blockNet: false,
  allowDomains: [],
  denyDomains: [],
  allowEndpoints: [],
  waitAll: false,
  keepFds: [],
  color: "auto",
  argv: [],
} as const;
const CHECK = { command: "check", policy: null, json: false, color: "auto" } as const;

const accepted: { words: string[]; is: Invocation }[] = [
  { words: ["run", "--", "ls"], is: { ...RUN, argv: ["ls"] } },
  { words: ["run", "ls", "-h"], is: { ...RUN, argv: ["ls", "-h"] } },
  { words: ["run", "ls", "--", "-p"], is: { ...RUN, argv: ["ls", "--", "-p"] } },
  { words: ["run", "--", "--", "a"], is: { ...RUN, argv: ["--", "a"] } },
  { words: ["run", "--", "run", "--policy"], is: { ...RUN, argv: ["run", "--policy"] } },
  { words: ["run", "--", ""], is: { ...RUN, argv: [""] } },
  { words: ["run", "-", "x"], is: { ...RUN, argv: ["-", "x"] } },
  { words: ["run", "-p", "a", "ls"], is: { ...RUN, policy: "a", argv: ["ls"] } },
  { words: ["run", "-pa", "ls"], is: { ...RUN, policy: "a", argv: ["ls"] } },
  { words: ["run", "-p=a", "ls"], is: { ...RUN, policy: "a", argv: ["ls"] } },
  { words: ["run", "--policy", "a", "ls"], is: { ...RUN, policy: "a", argv: ["ls"] } },
  { words: ["run", "--policy=a=b", "ls"], is: { ...RUN, policy: "a=b", argv: ["ls"] } },
  { words: ["run", "--policy=-", "ls"], is: { ...RUN, policy: "-", argv: ["ls"] } },
  { words: ["run", "--policy=--x", "ls"], is: { ...RUN, policy: "--x", argv: ["ls"] } },
  { words: ["run", "--audit", "l", "ls"], is: { ...RUN, audit: "l", argv: ["ls"] } },
  {
    words: ["run", "-r", "/a", "--read=/b", "-w/c", "--allow", "/d", "-a", "/e", "--", "ls"],
    is: { ...RUN, read: ["/a", "/b"], write: ["/c"], allow: ["/d", "/e"], argv: ["ls"] },
  },
  {
    words: [
      ...["run", "--allow-domain", "a.example", "--allow-domain=*.b.example"],
      ...["--deny-domain", "c.example", "--allow-endpoint", "x:GET:/a", "ls"],
    ],
    is: {
      ...RUN,
      allowDomains: ["a.example", "*.b.example"],
      denyDomains: ["c.example"],
      allowEndpoints: ["x:GET:/a"],
      argv: ["ls"],
    },
  },
  {
    words: ["run", "--block-net", "--deny-domain", "c.example", "ls"],
    is: { ...RUN, blockNet: true, denyDomains: ["c.example"], argv: ["ls"] },
  },
  { words: ["run", "--wait-all", "ls"], is: { ...RUN, waitAll: true, argv: ["ls"] } },
  {
    words: ["run", "--keep-fd", "9", "--keep-fd=3", "--keep-fd", "9", "ls"],
    is: { ...RUN, keepFds: [3, 9], argv: ["ls"] },
  },
  {
    words: ["run", "--color", "always", "--color=never", "ls"],
    is: { ...RUN, color: "never", argv: ["ls"] },
  },
  // Bytes that are no UTF-8 arrive as lone surrogates and stay what they are.
  {
    words: ["run", "-p\udcff", "--", "\udc80 x"],
    is: { ...RUN, policy: "\udcff", argv: ["\udc80 x"] },
  },
  { words: ["check"], is: CHECK },
  { words: ["check", "a"], is: { ...CHECK, policy: "a" } },
  { words: ["check", "a", "--json"], is: { ...CHECK, policy: "a", json: true } },
  { words: ["check", "--policy", "a"], is: { ...CHECK, policy: "a" } },
  { words: ["check", "--", "--json"], is: { ...CHECK, policy: "--json" } },
  { words: ["-h"], is: { command: "help", topic: null, form: "short" } },
  { words: ["--help"], is: { command: "help", topic: null, form: "full" } },
  { words: ["help"], is: { command: "help", topic: null, form: "full" } },
  { words: ["help", "run"], is: { command: "help", topic: "run", form: "full" } },
  { words: ["help", "policy"], is: { command: "help", topic: "policy", form: "full" } },
  { words: ["run", "-h"], is: { command: "help", topic: "run", form: "short" } },
  { words: ["run", "-p", "a", "--help"], is: { command: "help", topic: "run", form: "full" } },
  { words: ["check", "--help", "--no"], is: { command: "help", topic: "check", form: "full" } },
  { words: ["--version"], is: { command: "version" } },
  { words: ["-V"], is: { command: "version" } },
  { words: ["run", "--version"], is: { command: "version" } },
];

test.each(accepted)("parseArgv() understands $words", ({ words, is }) => {
  expect(parseArgv(words)).toEqual({ ok: true, value: is });
});

const refused: { words: string[]; message: string; correction: string | null }[] = [
  { words: [], message: "no command given", correction: null },
  {
    words: ["rum", "--", "ls"],
    message: "there is no command `rum`",
    correction: "faraday run -- ls",
  },
  {
    words: ["claude", "-p", "hi"],
    message: "there is no command `claude`",
    correction: "faraday run -- claude -p hi",
  },
  {
    words: ["--", "ls"],
    message: "no command of faraday's own before `--`",
    correction: "faraday run -- ls",
  },
  {
    words: ["--policy", "a", "run", "--", "run"],
    message: "`--policy` stands before the command",
    correction: "faraday run --policy a -- run",
  },
  {
    words: ["-pa", "--", "check"],
    message: "`-pa` stands before the command",
    correction: "faraday run -pa -- check",
  },
  {
    words: ["--nonsense"],
    message: "there is no flag `--nonsense` before a command",
    correction: null,
  },
  {
    words: ["run", "--polcy", "a", "ls"],
    message: "`faraday run` has no flag `--polcy`",
    correction: "faraday run --policy a ls",
  },
  {
    words: ["run", "--polciy=a", "ls"],
    message: "`faraday run` has no flag `--polciy`",
    correction: "faraday run --policy=a ls",
  },
  {
    words: ["run", "-policy", "a", "ls"],
    message: "`faraday run` has no flag `-policy`",
    correction: "faraday run --policy a ls",
  },
  {
    words: ["run", "-x", "ls"],
    message: "`faraday run` has no flag `-x`",
    correction: null,
  },
  {
    words: ["run", "--json", "ls"],
    message: "`faraday run` has no flag `--json`",
    correction: null,
  },
  {
    words: ["check", "--audit", "a"],
    message: "`faraday check` has no flag `--audit`",
    correction: null,
  },
  {
    words: ["run", "--wait-all=yes", "ls"],
    message: "`--wait-all` takes no value",
    correction: "faraday run --wait-all ls",
  },
  { words: ["run", "-hx"], message: "`faraday run` has no flag `-hx`", correction: null },
  {
    words: ["run", "--color=alway", "ls"],
    message: "`--color` is one of auto, always, never, not `alway`",
    correction: "faraday run --color=always ls",
  },
  {
    words: ["run", "--color", "purple", "ls"],
    message: "`--color` is one of auto, always, never, not `purple`",
    correction: null,
  },
  {
    words: ["run", "--profile", "claude", "--", "ls"],
    message:
      "`--profile` is one of default, claude-code, codex, gemini, ci, offline, read-only, " +
      "strict, observe, not `claude`",
    correction: "faraday run --profile=claude-code -- ls",
  },
  {
    words: ["run", "--block-net", "--allow-domain", "a.example", "ls"],
    message: "`--block-net` leaves nothing for `--allow-domain` to allow",
    correction: null,
  },
  { words: ["version"], message: "the version is a flag", correction: "faraday --version" },
  { words: ["-v"], message: "there is no flag `-v`", correction: "faraday --version" },
  { words: ["--hlep"], message: "there is no flag `--hlep`", correction: "faraday --help" },
  {
    words: ["log", "--event", "exce", "a.jsonl"],
    message:
      "`--event` is one of start, exec, exec-mismatch, file, net, net-end, end, " + "not `exce`",
    correction: "faraday log --event=exec a.jsonl",
  },
  { words: ["run"], message: "no command to run", correction: "faraday run -- COMMAND" },
  {
    words: ["run", "-p", "a", "--"],
    message: "no command to run",
    correction: "faraday run -p a -- COMMAND",
  },
  {
    words: ["check", "a", "b"],
    message: "`faraday check` takes one policy, not 2",
    correction: null,
  },
  {
    words: ["check", "-p", "a", "b"],
    message: "`faraday check` takes one policy, not 2",
    correction: null,
  },
  { words: ["check", ""], message: "the path of the policy is empty", correction: null },
  {
    words: ["help", "exitcodes"],
    message: "there is no help on `exitcodes`",
    correction: "faraday help exit-codes",
  },
  { words: ["help", "qqqqqq"], message: "there is no help on `qqqqqq`", correction: null },
  {
    words: ["help", "run", "check"],
    message: "`faraday help` explains one thing at a time",
    correction: "faraday help run",
  },
];

test.each(refused)("parseArgv() refuses $words: $message", ({ words, message, correction }) => {
  const parsed = parseArgv(words);
  expect(parsed.ok).toBe(false);
  if (parsed.ok) return;
  expect(parsed.error.message).toBe(message);
  expect(parsed.error.correction?.join(" ") ?? null).toBe(correction);
});

describe("a value that is missing", () => {
  test.each([
    [["run", "--policy"]],
    [["run", "--policy", "--", "ls"]],
    [["run", "--policy", "--audit", "l", "ls"]],
    [["run", "--policy=", "ls"]],
    [["run", "--policy", "", "ls"]],
    [["run", "-p"]],
    [["run", "--keep-fd", "--", "ls"]],
  ])("%j is not taken from what follows", (words) => {
    const parsed = parseArgv(words);
    expect(parsed.ok).toBe(false);
    if (!parsed.ok) expect(parsed.error.message).toContain("needs a value");
  });
});

test.each(["--policy", "--audit"])("parseArgv() refuses %s given twice", (flag) => {
  const parsed = parseArgv(["run", flag, "a", flag, "a", "ls"]);
  expect(parsed.ok ? null : parsed.error.message).toBe(`\`${flag}\` is given twice`);
});

test.each([
  { value: "3", ok: true },
  { value: "1048576", ok: true },
  { value: "1048577", ok: false },
  { value: "2", ok: false },
  { value: "0", ok: false },
  { value: "x", ok: false },
  { value: "3x", ok: false },
  { value: "0x3", ok: false },
  { value: "3.5", ok: false },
  { value: "99999999999999999999", ok: false },
])("--keep-fd=$value: accepted is $ok", ({ value, ok }) => {
  expect(parseArgv(["run", `--keep-fd=${value}`, "ls"]).ok).toBe(ok);
});
