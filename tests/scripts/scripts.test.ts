import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseScript } from "./parse-script.ts";
import { runScript } from "./run-script.ts";

const DIST = resolve(import.meta.dir, "../../dist");
const SCRIPTS = readdirSync(import.meta.dir).filter((name) => name.endsWith(".txt"));

test("the binary is built (npm run build)", () => {
  expect(existsSync(join(DIST, "faraday"))).toBe(true);
});

describe("scripts", () => {
  test.each(SCRIPTS)("%s", (name) => {
    inTemporaryDirectory((work) => {
      runScript(parseScript(readFileSync(join(import.meta.dir, name), "utf8")), work, DIST);
    });
  });
});

/** A runner that lets everything pass would make every script above worthless. */
describe("the runner of scripts fails when", () => {
  test.each([
    { because: "a command fails", script: "exec false" },
    { because: "a command succeeds against `!`", script: "! exec true" },
    { because: "the exit code is another", script: "! exec sh -c 'exit 3'\nstatus 4" },
    { because: "stdout does not match", script: "exec echo a\nstdout '^b'" },
    { because: "stderr matches against `!`", script: "exec sh -c 'echo a >&2'\n! stderr a" },
    { because: "two files differ", script: "cmp a b\n-- a --\nx\n-- b --\ny" },
    { because: "a command is unknown", script: "exce true" },
    { because: "a quote is not closed", script: "exec echo 'a" },
    { because: "a program is killed", script: "! exec sh -c 'kill -9 $$'\nstatus 137" },
  ])("$because", ({ script }) => {
    inTemporaryDirectory((work) => {
      expect(() => runScript(parseScript(script), work, DIST)).toThrow();
    });
  });

  test("and passes when all of it holds", () => {
    const script = [
      "env NAME=value",
      "exec sh -c 'echo $NAME; cat; exit 0'",
      "stdout '^value$'",
      "! exec sh -c 'echo ''quoted'' >&2; exit 7'",
      "status 7",
      "stderr quoted",
      "cmp a b",
      "-- a --",
      "x",
      "-- b --",
      "x",
    ].join("\n");
    inTemporaryDirectory((work) => runScript(parseScript(script), work, DIST));
  });
});

function inTemporaryDirectory(body: (work: string) => void): void {
  const work = mkdtempSync(join(tmpdir(), "faraday-script-"));
  try {
    body(work);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
