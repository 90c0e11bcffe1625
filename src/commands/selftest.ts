import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Paint, painter, wantsColor } from "../cli/color.ts";
import type { SelftestInvocation } from "../cli/invocation.ts";
import type { TerminalIo } from "../cli/terminal-io.ts";
import { VERSION } from "../cli/version.ts";
import { escapeControl } from "../policy/escape-control.ts";
import { type Attempt, judgeAttempt, type Outcome } from "./selftest-attempts.ts";
import { ATTEMPTS } from "./selftest-stage.ts";

/** Raised only when a field changes its meaning or goes away; new fields do not count. */
const REPORT_VERSION = 1;
const EMBEDDED = "/$bunfs/";
const STAGE_TIMEOUT_MS = 20_000;

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
export function runSelftest(invocation: SelftestInvocation, io: TerminalIo): number {
  const began = performance.now();
  const base = realpathSync(mkdtempSync(join(tmpdir(), "faraday-selftest-")));
  const victim = Bun.spawn(["/bin/sh", "-c", "read line"], { stdin: "pipe", env: {} });
  try {
    const inside = runInside(prepareGround(join(base, "inside")));
    const outside = runOutside(prepareGround(join(base, "outside")), victim.pid);
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
    return results.every(({ outcome }) => outcome.state !== "not-held") ? 0 : 1;
  } finally {
    victim.kill("SIGKILL");
    rmSync(base, { recursive: true, force: true });
  }
}

/** A directory with all that the attempts need, the same for both stages. */
function prepareGround(directory: string): string {
  const at = (name: string): string => join(directory, name);
  for (const name of ["bin/allowed", "bin/denied", "work/hole", "work/free", "outside"])
    mkdirSync(at(name), { recursive: true });
  const program = ["/usr/bin/test", "/bin/test"].find((path) => existsSync(path)) ?? "/bin/sh";
  for (const name of ["bin/allowed/test", "bin/denied/test", "work/free/deleted"]) {
    copyFileSync(program, at(name));
    chmodSync(at(name), 0o755);
  }
  writeFileSync(at("work/script"), `#!${at("bin/denied/test")}\n`, { mode: 0o755 });
  symlinkSync(at("bin/denied/test"), at("work/symlink"));
  symlinkSync(at("outside/secret"), at("work/to-secret"));
  for (const name of ["secret", "truncated", "moved", "removed"]) {
    writeFileSync(at(`outside/${name}`), "secret\n");
  }
  writeFileSync(at("work/hole/secret"), "secret\n");
  try {
    linkSync(at("bin/denied/test"), at("work/hardlink"));
  } catch {
    // A file system without hard links: the attempt says so.
  }
  return directory;
}

const ownWords = (): string[] =>
  Bun.main.startsWith(EMBEDDED) ? [process.execPath] : [process.execPath, Bun.main];

function runInside(directory: string): Stage {
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
`;
  const path = join(directory, "policy.toml");
  writeFileSync(path, policy);
  const words = ["run", "--policy", path, "--", ...ownWords(), "__attempt", "all", directory];
  return runStage([...ownWords(), ...words]);
}

function runOutside(directory: string, victim: number): Stage {
  return runStage([...ownWords(), "__attempt", "all", directory, String(victim)]);
}

function runStage(words: readonly string[]): Stage {
  const ran = Bun.spawnSync([...words], {
    env: { PATH: "/usr/bin:/bin" },
    stdin: "ignore",
    timeout: STAGE_TIMEOUT_MS,
  });
  const line = ran.stdout.toString().trim().split("\n").at(-1) ?? "";
  try {
    return { answers: JSON.parse(line) as Answers, failure: "" };
  } catch {
    const failure = ran.stderr.toString().trim();
    return { answers: null, failure: failure === "" ? "it gave no answer" : failure };
  }
}

/** Without a sandbox there is nothing to test, which is no success. */
function refuse(stage: Stage, invocation: SelftestInvocation, io: TerminalIo): number {
  const failure = stage.failure;
  if (invocation.json) {
    io.stdout.write(`${JSON.stringify({ v: REPORT_VERSION, ok: false, failure })}\n`);
  } else {
    io.stderr.write(`faraday: the selftest could not be run: ${escapeControl(failure)}\n`);
    io.stderr.write("hint: `faraday doctor` says what is missing on this machine\n");
  }
  return 1;
}

const count = (results: readonly Result[], state: Outcome["state"]): number =>
  results.filter(({ outcome }) => outcome.state === state).length;

function report(results: readonly Result[], elapsedMs: number): object {
  return {
    v: REPORT_VERSION,
    ok: count(results, "not-held") === 0,
    faraday: VERSION,
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
  held: "held",
  "not-held": "NOT HELD",
  "not-applicable": "n/a",
};

function table(results: readonly Result[], elapsedMs: number, paint: Paint): string {
  const width = Math.max(...results.map(({ attempt }) => attempt.title.length));
  const lines = results.map(({ attempt: { area, title }, outcome: { state, note } }) => {
    const mark = MARKS[state].padEnd("NOT HELD".length);
    const shown = state === "not-held" ? paint("error", mark) : mark;
    const row = `${shown}  ${area.padEnd("supervisor".length)}  ${title.padEnd(width)}`;
    return `${row}  ${paint("faint", escapeControl(note))}`;
  });
  const sums = [
    `${count(results, "held")} held`,
    `${count(results, "not-held")} not held`,
    `${count(results, "not-applicable")} not applicable`,
  ].join(", ");
  return `${[...lines, "", `${sums} (${elapsedMs} ms)`].join("\n")}\n`;
}
