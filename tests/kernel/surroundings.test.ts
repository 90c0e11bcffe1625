import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { Workplace } from "./faraday-run.ts";
import { allowBut, exe, PYTHON } from "./test-programs.ts";

const place = new Workplace();
const marker = place.at("marker");
const trap = place.at("trap.js");
const policy = allowBut(exe("/usr/bin/env"));
const CODE = `require("node:fs").writeFileSync(${JSON.stringify(marker)}, "x");`;

beforeAll(() => {
  const files: Readonly<Record<string, string>> = {
    "trap.js": CODE,
    "bunfig.toml": 'preload = ["./trap.js"]\n[run]\nbun = true\n[test]\npreload = ["./trap.js"]\n',
    ".bunfig.toml": 'preload = ["./trap.js"]\n',
    ".env": `FARADAY_LOG=debug\nBUN_OPTIONS=--preload=${trap}\nPATH=/nonexistent\nFROM_DOTENV=1\n`,
    ".env.local": "FROM_DOTENV=1\n",
    "package.json": '{"type": "commonjs", "main": "./trap.js", "imports": {"#x": "./trap.js"}}',
    "tsconfig.json":
      '{"compilerOptions": {"paths": {"*": ["./trap.js"]}, "jsxImportSource": "trap"}}',
    "jsconfig.json": '{"compilerOptions": {"paths": {"*": ["./trap.js"]}}}',
    "index.js": CODE,
    "main.js": CODE,
    "main.ts": CODE,
    "supervisor-worker.ts": CODE,
    "supervisor-worker.js": CODE,
    "node_modules/re2js/index.js": CODE,
    "node_modules/re2js/package.json": '{"main": "index.js"}',
    "node_modules/toml-eslint-parser/index.js": CODE,
    "node_modules/fs/index.js": CODE,
    "libseccomp.so.2": "not a library",
    "libc.so.6": "not a library",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(place.at(name)), { recursive: true });
    place.write(name, text);
  }
});
afterAll(() => place[Symbol.dispose]());

async function expectUnchanged(env: Readonly<Record<string, string>>): Promise<void> {
  rmSync(marker, { force: true });
  const all = { PATH: "/usr/bin:/bin", HOME: place.path, ...env };
  const bad = await place.faraday(["/usr/bin/env"], { policy, env: all });
  expect([bad.exit, bad.stdout]).toEqual([126, ""]);
  const code = "import os, sys; print(sorted(os.environ)); sys.exit(7)";
  const command = [PYTHON, "-S", "-E", "-c", code];
  const good = await place.faraday(command, { policy, env: all });
  expect([good.exit, good.stderr]).toEqual([7, ""]);
  // The variables themselves are the command's, and reach it.
  const bare = await place.bare(command, { env: all });
  expect(good.stdout).toBe(bare.stdout);
  expect(existsSync(marker)).toBe(false);
}

describe("neither working directory nor environment make the binary run foreign code", () => {
  test("files of the working directory and of HOME", () => expectUnchanged({}));

  test.each([
    { NODE_OPTIONS: `--require=${trap}` },
    { BUN_OPTIONS: `--preload=${trap}` },
    { BUN_OPTIONS: `--require ${trap}` },
    { BUN_OPTIONS: `--config=${place.at("bunfig.toml")}` },
    { BUN_OPTIONS: "--inspect-wait=127.0.0.1:0" },
    { BUN_OPTIONS: "--print process.pid" },
    { BUN_BE_BUN: "1" },
    { BUN_INSPECT: "ws://127.0.0.1:0/x?wait=1" },
    { BUN_INSPECT_NOTIFY: `unix://${place.at("inspect.sock")}` },
    { BUN_INSPECT_CONNECT_TO: "ws://127.0.0.1:9/" },
    { BUN_INSPECT_PRELOAD: trap },
    { BUN_RUNTIME_TRANSPILER_CACHE_PATH: place.at("cache") },
    { BUN_TMPDIR: place.at("tmp"), TMPDIR: "/nonexistent" },
    { BUN_DEBUG: place.at("debug") },
    { BUN_CONFIG_VERBOSE_FETCH: "curl" },
    { NODE_PATH: place.at("node_modules") },
    { NODE_ENV: "test", NO_COLOR: "1", FORCE_COLOR: "3" },
    { NODE_CHANNEL_FD: "0" },
    { XDG_CONFIG_HOME: place.path },
  ])("%p", (env) => expectUnchanged(env));

  // The engine's own options cannot be closed. Whatever they do, the gate holds or nothing starts.
  test.each([{ BUN_JSC_useJIT: "0" }, { BUN_JSC_dumpOptions: "2" }, { BUN_JSC_useFTLJIT: "0" }])(
    "%p does not open the gate",
    async (env) => {
      const all = { PATH: "/usr/bin:/bin", HOME: place.path, ...env };
      const bad = await place.faraday(["/usr/bin/env"], { policy, env: all });
      expect(bad.exit).not.toBe(0);
      expect(bad.stdout).not.toContain("HOME=");
    },
  );

  test("a search path for libraries that leads nowhere is no error", async () => {
    const kept = await place.faraday(["/bin/true"], {
      policy,
      env: { PATH: "/usr/bin:/bin", LD_LIBRARY_PATH: "/nonexistent" },
    });
    expect(kept.exit).toBe(0);
  });
});
