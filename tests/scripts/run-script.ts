import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Script, ScriptLine, ScriptWord } from "./parse-script.ts";

const COMMAND_TIMEOUT_MS = 60_000;

interface Session {
  readonly work: string;
  readonly env: Map<string, string>;
  cwd: string;
  stdin: string;
  last: { status: number; stdout: string; stderr: string } | null;
}

type Command = (session: Session, line: ScriptLine, words: readonly string[]) => void;

/** Runs a script in `work`, an empty directory, with `binDirectory` first in PATH. */
export function runScript(script: Script, work: string, binDirectory: string): void {
  const session: Session = {
    work,
    cwd: work,
    stdin: "",
    last: null,
    env: new Map([
      ["PATH", `${binDirectory}:/usr/local/bin:/usr/bin:/bin`],
      ["HOME", join(work, "home")],
      ["TMPDIR", join(work, "tmp")],
      ["LANG", "C.UTF-8"],
      ["WORK", work],
    ]),
  };
  mkdirSync(join(work, "home"));
  mkdirSync(join(work, "tmp"));
  for (const [name, text] of script.files) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), text);
  }
  for (const line of script.lines) {
    if (line.condition !== null && !holds(line.condition)) continue;
    const [name = "", ...words] = line.words.map((word) => expand(word, session.env));
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (command === undefined) throw failure(session, line, `there is no command ${name}`);
    command(session, line, words);
  }
}

const COMMANDS: Readonly<Record<string, Command>> = {
  /** Runs a program, which must succeed, or fail with `!`. */
  exec(session, line, words) {
    session.last = execute(session, words);
    session.stdin = "";
    const failed = session.last.status !== 0;
    if (failed !== line.negated) {
      throw failure(session, line, failed ? "it failed" : "it succeeded");
    }
  },
  /** The exact exit code of the last exec. */
  status(session, line, [code]) {
    if (session.last?.status !== Number(code)) throw failure(session, line, "another exit code");
  },
  stdout: (session, line, [pattern]) => match(session, line, pattern, session.last?.stdout ?? ""),
  stderr: (session, line, [pattern]) => match(session, line, pattern, session.last?.stderr ?? ""),
  grep: (session, line, [pattern, file]) => match(session, line, pattern, content(session, file)),
  /** Two files with the same content; `stdout` and `stderr` name what the last exec printed. */
  cmp(session, line, [actual, expected]) {
    const [left, right] = [content(session, actual), content(session, expected)];
    if ((left === right) === line.negated) {
      throw failure(session, line, `--- ${actual}\n${left}--- ${expected}\n${right}`);
    }
  },
  env(session, _line, words) {
    for (const word of words) {
      const equals = word.indexOf("=");
      session.env.set(word.slice(0, equals), word.slice(equals + 1));
    }
  },
  stdin(session, _line, [file]) {
    session.stdin = content(session, file);
  },
  cd(session, _line, [directory]) {
    session.cwd = resolve(session.cwd, directory ?? "");
  },
  mkdir(session, _line, words) {
    for (const word of words) mkdirSync(resolve(session.cwd, word), { recursive: true });
  },
  chmod(session, _line, [mode, file]) {
    chmodSync(resolve(session.cwd, file ?? ""), Number.parseInt(mode ?? "", 8));
  },
  /** `symlink NAME -> TARGET` */
  symlink(session, _line, [name, , target]) {
    symlinkSync(target ?? "", resolve(session.cwd, name ?? ""));
  },
  exists(session, line, words) {
    for (const word of words) {
      if (existsSync(resolve(session.cwd, word)) === line.negated) {
        throw failure(session, line, line.negated ? `${word} is there` : `${word} is missing`);
      }
    }
  },
};

function execute(session: Session, words: readonly string[]): NonNullable<Session["last"]> {
  const result = Bun.spawnSync([...words], {
    cwd: session.cwd,
    env: Object.fromEntries(session.env),
    stdin: Buffer.from(session.stdin),
    timeout: COMMAND_TIMEOUT_MS,
  });
  return {
    // A death by signal has no code of its own; 128+n would look like one that exited so.
    status: result.signalCode === undefined ? result.exitCode : -1,
    stdout: result.stdout.toString(),
    stderr: result.stderr.toString(),
  };
}

function match(session: Session, line: ScriptLine, pattern: string | undefined, text: string) {
  const found = new RegExp(pattern ?? "", "mu").test(text);
  if (found === line.negated) throw failure(session, line, found ? "it matches" : "no match");
}

function content(session: Session, name: string | undefined): string {
  if (name === "stdout" || name === "stderr") return session.last?.[name] ?? "";
  return readFileSync(resolve(session.cwd, name ?? ""), "utf8");
}

function expand(word: ScriptWord, env: ReadonlyMap<string, string>): string {
  const value = (name: string) => env.get(name) ?? "";
  return word
    .map(({ text, quoted }) =>
      quoted ? text : text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (_all, a, b) => value(a ?? b)),
    )
    .join("");
}

function holds(condition: string): boolean {
  const negated = condition.startsWith("!");
  const name = negated ? condition.slice(1) : condition;
  if (name !== "root") throw new Error(`there is no condition [${name}]`);
  return (process.getuid?.() === 0) !== negated;
}

function failure(session: Session, line: ScriptLine, why: string): Error {
  const last = session.last;
  const seen =
    last === null ? "" : `\nexit ${last.status}\nstdout:\n${last.stdout}\nstderr:\n${last.stderr}`;
  return new Error(`line ${line.number}: ${line.source}\n${why}${seen}`);
}
