import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Paint, painter, wantsColor } from "../cli/color.ts";
import type { SelftestInvocation } from "../cli/invocation.ts";
import type { TerminalIo } from "../cli/terminal-io.ts";
import { VERSION } from "../cli/version.ts";
import { escapeControl } from "../policy/escape-control.ts";
import { type Attempt, judgeAttempt, type Outcome } from "./selftest-attempts.ts";
import { prepareGround } from "./selftest-ground.ts";
import { type Servers, startServers } from "./selftest-servers.ts";
import { ATTEMPTS } from "./selftest-stage.ts";

/** Raised only when a field changes its meaning or goes away; new fields do not count. */
const REPORT_VERSION = 1;
const EMBEDDED = "/$bunfs/";
/** Far more than it takes, except where a whole machine is emulated. */
const STAGE_TIMEOUT_MS = 180_000;

type Answers = Readonly<Record<string, string>>;
interface Stage {
  readonly answers: Answers | null;
  /** What it said on stderr, where it gave no answers. */
  readonly failure: string;
}
interface Result {
  readonly attempt: Attempt;
  readonly outcome: Outcome;
}

/** Tries to get out of a sandbox of our own; returns 1 if anything was not held. */
export async function runSelftest(invocation: SelftestInvocation, io: TerminalIo): Promise<number> {
  const began = performance.now();
  const base = realpathSync(mkdtempSync(join(tmpdir(), "faraday-selftest-")));
  const victim = Bun.spawn(["/bin/sh", "-c", "read line"], { stdin: "pipe", env: {} });
  try {
    const grounds = {
      inside: prepareGround(join(base, "inside")),
      outside: prepareGround(join(base, "outside")),
    };
    using servers = startServers(Object.values(grounds));
    const inside = await runInside(grounds.inside, servers);
    const outside = await runOutside(grounds.outside, servers, victim.pid);
    if (inside.answers === null || outside.answers === null) {
      return refuse(inside.answers === null ? inside : outside, invocation, io);
    }
    const { answers } = inside;
    const controls = outside.answers;
    const results = ATTEMPTS.map((attempt) => ({
      attempt,
      outcome: judgeAttempt(attempt, answers[attempt.id], controls[attempt.id]),
    }));
    const elapsedMs = Math.round(performance.now() - began);
    const paint = painter({ color: wantsColor(invocation.color, io.stdout, io.env) });
    if (invocation.json) io.stdout.write(`${JSON.stringify(report(results, elapsedMs))}\n`);
    else io.stdout.write(table(results, elapsedMs, paint));
    return isGood(results) ? 0 : 1;
  } finally {
    victim.kill("SIGKILL");
    rmSync(base, { recursive: true, force: true });
  }
}

const ownWords = (): string[] =>
  Bun.main.startsWith(EMBEDDED) ? [process.execPath] : [process.execPath, Bun.main];

/**
 * What this machine cannot enforce is not held, and shall be seen not to be: the run goes ahead
 * without it.
 */
function runInside(directory: string, { allowedPort, strangePort }: Servers): Promise<Stage> {
  const quoted = (...parts: string[]): string => JSON.stringify(join(directory, ...parts));
  const own = ownWords().map((word) => JSON.stringify(word));
  const policy = `[meta]
default_action = "allow"

[[rule]]
id = "selftest-denied"
action = "deny"
exe = ${quoted("bin/denied/test")}

[filesystem]
read_globs = [${quoted("bin")}]
allow_globs = [${quoted("work")}]
exec_globs = [${own.join(", ")}]
deny_globs = [${quoted("work/hole")}]
require_enforced = false

[network]
kernel_pin = true
allowed_local_ports = [${allowedPort}]
require_enforced = false
`;
  const path = join(directory, "policy.toml");
  writeFileSync(path, policy);
  const ports = [String(allowedPort), String(strangePort)];
  const attempts = [...ownWords(), "__attempt", "all", directory, ...ports];
  return runStage([...ownWords(), "run", "--policy", path, "--", ...attempts]);
}

function runOutside(directory: string, servers: Servers, victim: number): Promise<Stage> {
  const numbers = [servers.allowedPort, servers.strangePort, victim].map(String);
  return runStage([...ownWords(), "__attempt", "all", directory, ...numbers]);
}

/** Without blocking, since the servers are in this process. */
async function runStage(words: readonly string[]): Promise<Stage> {
  const child = Bun.spawn([...words], {
    env: { PATH: "/usr/bin:/bin" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: STAGE_TIMEOUT_MS,
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const lines = stdout.split("\n").filter((line) => line !== "");
  if (lines.length === 0) {
    const failure = stderr.trim();
    return { answers: null, failure: failure === "" ? "it gave no answer" : failure };
  }
  const answers = lines.map((line) => {
    const blank = line.indexOf(" ");
    return [line.slice(0, blank), line.slice(blank + 1)] as const;
  });
  return { answers: Object.fromEntries(answers), failure: "" };
}

/** Without a sandbox there is nothing to test, which is no success. */
function refuse(stage: Stage, invocation: SelftestInvocation, io: TerminalIo): number {
  const failure = stage.failure;
  if (invocation.json) {
    io.stdout.write(`${JSON.stringify({ v: REPORT_VERSION, ok: false, failure })}\n`);
  } else {
    const indented = failure
      .split("\n")
      .map((line) => `  ${escapeControl(line)}`)
      .join("\n");
    io.stderr.write(`faraday: the selftest could not be run\n${indented}\n`);
    io.stderr.write("hint: `faraday doctor` says what is missing on this machine\n");
  }
  return 1;
}

const count = (results: readonly Result[], state: Outcome["state"]): number =>
  results.filter(({ outcome }) => outcome.state === state).length;

const isGood = (results: readonly Result[]): boolean =>
  count(results, "not-held") + count(results, "broken") === 0;

function report(results: readonly Result[], elapsedMs: number): object {
  return {
    v: REPORT_VERSION,
    ok: isGood(results),
    faraday: VERSION,
    works: count(results, "works"),
    broken: count(results, "broken"),
    held: count(results, "held"),
    not_held: count(results, "not-held"),
    not_applicable: count(results, "not-applicable"),
    elapsed_ms: elapsedMs,
    attempts: results.map(({ attempt: { id, area, title }, outcome: { state, note } }) => ({
      id,
      area,
      title,
      state,
      note,
    })),
  };
}

const MARKS: Readonly<Record<Outcome["state"], string>> = {
  works: "works",
  broken: "BROKEN",
  held: "held",
  "not-held": "NOT HELD",
  "not-applicable": "n/a",
};

function table(results: readonly Result[], elapsedMs: number, paint: Paint): string {
  const width = Math.max(...results.map(({ attempt }) => attempt.title.length));
  const lines = results.map(({ attempt: { area, title }, outcome: { state, note } }) => {
    const mark = MARKS[state].padEnd("NOT HELD".length);
    const isBad = state === "not-held" || state === "broken";
    const shown = isBad ? paint("error", mark) : mark;
    const row = `${shown}  ${area.padEnd("supervisor".length)}  ${title.padEnd(width)}`;
    return `${row}  ${paint("faint", escapeControl(note))}`;
  });
  const sums = [
    `${count(results, "held")} held`,
    `${count(results, "not-held")} not held`,
    `${count(results, "works")} work`,
    `${count(results, "broken")} broken`,
    `${count(results, "not-applicable")} not applicable`,
  ].join(", ");
  return `${[...lines, "", `${sums} (${elapsedMs} ms)`].join("\n")}\n`;
}
