import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { REPOSITORY } from "../../scripts/source-files.ts";
import { FARADAY } from "../kernel/faraday-run.ts";

const temp = mkdtempSync(join(tmpdir(), "faraday-action-"));
const workspace = join(temp, "workspace");
const policy = join(workspace, "policy.toml");
const POLICY = `[meta]
version = 1
default_action = "allow"

[[rule]]
id = "no-id"
action = "deny"
exe_basename = "id"
reason = "names | and \`tools\` are <none> of its business"
`;

interface Action {
  readonly inputs: Readonly<Record<string, { readonly required?: boolean }>>;
  readonly outputs: Readonly<Record<string, object>>;
  readonly runs: {
    readonly steps: readonly { readonly run: string; readonly env: Record<string, string> }[];
  };
}
const action = Bun.YAML.parse(readFileSync(join(REPOSITORY, "action.yml"), "utf8")) as Action;

interface StepResult {
  readonly exit: number;
  readonly stdout: string;
  readonly outputs: string;
  readonly summary: string;
}

/** Runs a step as the runner does: its line through bash, the inputs in its environment. */
function step(index: number, env: Readonly<Record<string, string>>): StepResult {
  const files = { output: join(temp, "output"), summary: join(temp, "summary") };
  for (const file of Object.values(files)) writeFileSync(file, "");
  const ran = Bun.spawnSync(
    ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", action.runs.steps[index]?.run ?? ""],
    {
      cwd: workspace,
      env: {
        PATH: process.env.PATH ?? "/usr/bin:/bin",
        HOME: temp,
        GITHUB_ACTION_PATH: REPOSITORY,
        GITHUB_OUTPUT: files.output,
        GITHUB_STEP_SUMMARY: files.summary,
        RUNNER_TEMP: temp,
        ...env,
      },
    },
  );
  return {
    exit: ran.exitCode,
    stdout: ran.stdout.toString(),
    outputs: readFileSync(files.output, "utf8"),
    summary: readFileSync(files.summary, "utf8"),
  };
}

const run = (script: string, more: Readonly<Record<string, string>> = {}): StepResult =>
  step(1, { FARADAY_RUN: script, FARADAY_POLICY: policy, FARADAY_AUDIT: "", ...more });

/** What the runner takes for commands: lines outside of what stop-commands encloses. */
function commands(stdout: string): readonly string[] {
  const token = /^::stop-commands::(\w+)$/m.exec(stdout)?.[1];
  const [before, after] = [stdout.split("::stop-commands::")[0], stdout.split(`\n::${token}::\n`)];
  expect(after).toHaveLength(2);
  return `${before}${after[1]}`.split("\n").filter((line) => /^\s*::/.test(line));
}

beforeAll(() => {
  mkdirSync(workspace);
  writeFileSync(policy, POLICY);
  const release = join(temp, "release");
  mkdirSync(release);
  const name = process.arch === "arm64" ? "faraday-linux-arm64" : "faraday-linux-x64";
  copyFileSync(FARADAY, join(release, name));
  const sum = new Bun.CryptoHasher("sha256").update(readFileSync(FARADAY)).digest("hex");
  writeFileSync(join(release, "SHA256SUMS"), `${sum}  ${name}\n`);
  const installed = step(0, { FARADAY_VERSION: "", FARADAY_FROM: release, FARADAY_REPOSITORY: "" });
  expect(installed.exit).toBe(0);
});
afterAll(() => rmSync(temp, { recursive: true, force: true }));

describe("action.yml", () => {
  test("has the inputs and outputs that it is documented with", () => {
    expect(Object.keys(action.inputs)).toEqual(["run", "policy", "audit", "version", "from"]);
    expect(Object.keys(action.outputs)).toEqual(["denied", "audit"]);
  });

  test("puts no input into a script", () => {
    for (const { run: line, env } of action.runs.steps) {
      expect(line).not.toContain("${{");
      for (const value of Object.values(env)) expect(value).toMatch(/^\$\{\{ [\w.]+ \}\}$/);
    }
  });

  test.each([
    { version: "latest", says: "is not a version" },
    { version: "0.1.0/../../x", says: "is not a version" },
    { version: "$(touch pwned)", says: "is not a version" },
  ])("refuses the version $version", ({ version, says }) => {
    const ran = step(0, { FARADAY_VERSION: version, FARADAY_FROM: "" });
    expect(ran.exit).toBe(2);
    expect(ran.stdout).toContain(says);
    expect(existsSync(join(workspace, "pwned"))).toBe(false);
  });

  test("passes output and exit code on, and reports nothing where nothing was denied", () => {
    const ran = run("echo hello; exit 7");
    expect(ran.exit).toBe(7);
    expect(ran.stdout).toContain("\nhello\n");
    expect(commands(ran.stdout)).toEqual([]);
    expect(ran.outputs).toStartWith("denied=0\n");
    expect(ran.summary).toContain("exit code 7, 1 programs allowed, 0 denied.");
    expect(ran.summary).not.toContain("|---|");
  });

  test("annotates a denial with the line of its rule, and counts it", () => {
    const ran = run("id || true; id -u || true");
    expect(ran.exit).toBe(0);
    expect(ran.outputs).toMatch(/^denied=2$/m);
    const [first, second, ...rest] = commands(ran.stdout);
    expect(first).toBe(
      `::warning file=${policy},line=6,title=Faraday denied%3A no-id::id ` +
        "(names | and `tools` are <none> of its business)",
    );
    expect(second).toContain("::id -u (");
    expect(rest).toEqual([]);
    expect(ran.summary).toContain("| <code>id -u</code> | no-id | names &#124; and &#96;tools");
  });

  test("names the host of a refused request and of a refused connection", () => {
    const pinned = join(workspace, "pinned.toml");
    const more = '[network]\nkernel_pin = true\nallowed_hosts = ["good.example"]\n';
    writeFileSync(pinned, `${POLICY}${more}`);
    const script = `curl -s http://evil.example/a > /dev/null
curl -s --noproxy '*' http://127.0.0.1:9/ || true`;
    const ran = run(script, { FARADAY_POLICY: pinned });
    const found = commands(ran.stdout);
    expect(found[0]).toContain("::GET evil.example:80/a (evil.example is not in allowed_hosts)");
    expect(found[1]).toContain("::connect 127.0.0.1:9 (port 9 of this machine is not among ");
    expect(ran.outputs).toStartWith("denied=2\n");
    expect(ran.summary).toContain(
      "| <code>GET evil&#46;example&#58;80/a</code> | allowed&#95;hosts",
    );
  });

  test("stops at the first command that fails, as the runner's own shell does", () => {
    expect(run("false; echo on").stdout).not.toContain("\non\n");
    expect(run("false | true; echo on").exit).toBe(1);
  });

  test("what the command prints is no order to the runner", () => {
    const ran = run("echo '::error::mine'; echo '::add-mask::x'; printf '::set-output name=a::b'");
    expect(commands(ran.stdout)).toEqual([]);
  });

  test.each([
    { what: "a new line", argument: "\n::error file=x::forged" },
    { what: "an escaped new line", argument: "%0A::error::forged" },
    { what: "a table and HTML", argument: "|<img src=x>|[a](javascript:b)|`c`|**d**|@ann" },
    { what: "a link", argument: "https://evil.example www.evil.example" },
    { what: "a terminal", argument: "\u001b[31mred\u0007\u202egnp" },
  ])("$what in an argument stays text", ({ argument }) => {
    const ran = run('id "$EVIL" || true', { EVIL: argument });
    const found = commands(ran.stdout);
    expect(found).toHaveLength(1);
    expect(found[0]).toStartWith(`::warning file=${policy},line=6,title=`);
    expect(found[0]).not.toMatch(/%0A|\p{Cc}|\u202e/u);
    const row = ran.summary.split("\n").find((line) => line.startsWith("| <code>")) ?? "";
    const inside = row.slice("| <code>".length, row.indexOf("</code>"));
    expect(inside).toMatch(/^(?:[A-Za-z0-9 /-]|&#\d+;)+$/);
    expect(row.split("|")).toHaveLength(5);
  });

  test("inputs are data: quotes, substitutions and options do nothing", () => {
    const name = "$(touch pwned) `touch pwned` \"; touch pwned; '.toml";
    writeFileSync(join(workspace, name), POLICY);
    const ran = run("id || true", { FARADAY_POLICY: name, FARADAY_AUDIT: join(temp, "a b;c") });
    expect(ran.outputs).toStartWith("denied=1\n");
    expect(ran.outputs).toContain(`\n${join(temp, "a b;c")}\n`);
    expect(existsSync(join(workspace, "pwned"))).toBe(false);
  });

  test("the records of an earlier run in the same log do not count", () => {
    const more = { FARADAY_AUDIT: join(temp, "shared.jsonl") };
    expect(run("id || true", more).outputs).toStartWith("denied=1\n");
    expect(run("true", more).outputs).toStartWith("denied=0\n");
  });

  test("a run that is refused has a summary and its exit code", () => {
    writeFileSync(join(workspace, "broken.toml"), "[meta]\nversion = 1\nmistake = 2\n");
    const ran = run("true", { FARADAY_POLICY: "broken.toml" });
    expect(ran.exit).toBe(125);
    expect(ran.outputs).toStartWith("denied=0\n");
    expect(ran.summary).toContain("exit code 125, no end recorded, 0 denied.");
  });

  test("many denials are cut: ten annotations, and the rest is in the table", () => {
    const ran = run("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do id $i || true; done");
    const found = commands(ran.stdout);
    expect(found.filter((line) => line.startsWith("::warning"))).toHaveLength(10);
    expect(found.at(-1)).toBe("::notice title=Faraday::2 more denials are in the summary");
    expect(ran.summary.match(/^\| <code>/gm)).toHaveLength(12);
  });
});
