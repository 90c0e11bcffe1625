import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { Workplace } from "./faraday-run.ts";
import { allowBut, exe } from "./test-programs.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

describe("run ends as its command does", () => {
  test.each([0, 1, 2, 42, 124, 125, 126, 127, 128, 129, 137, 200, 254, 255])(
    "exit %d",
    async (code) => {
      const kept = await place.faraday(["sh", "-c", `exit ${code}`]);
      expect(kept.exit).toBe(code);
      expect(kept.records.at(-1)).toMatchObject({ event: "end", exit: code, signal: null });
      expect(kept.stderr).toBe("");
    },
  );

  test.each([1, 2, 3, 6, 9, 11, 13, 14, 15, 10, 34, 64])("death by signal %d", async (signal) => {
    const kept = await place.faraday(["sh", "-c", `kill -${signal} $$`]);
    expect(kept.exit).toBe(128 + signal);
    expect(kept.records.at(-1)).toMatchObject({ exit: 128 + signal, signal });
  });

  test("a caught signal is the command's own affair", async () => {
    const kept = await place.faraday(["sh", "-c", "trap 'exit 7' TERM; kill $$"]);
    expect(kept.exit).toBe(7);
  });
});

describe("run says why a command did not start", () => {
  test("127: not found in PATH, or no such file", async () => {
    for (const name of ["no-such-command-anywhere", "/no/such/file", "./missing"]) {
      const kept = await place.faraday([name]);
      expect(kept.exit).toBe(127);
      expect(kept.stderr).toContain("faraday: ");
      expect(kept.stderr).toContain(name);
    }
  });

  test("126: not executable, a directory", async () => {
    const file = place.write("text", "text");
    chmodSync(file, 0o644);
    for (const name of [file, place.path]) {
      const kept = await place.faraday([name]);
      expect([name, kept.exit]).toEqual([name, 126]);
    }
  });

  test("126: denied by the policy, with the rule and what would permit it", async () => {
    const policy = allowBut(`${exe("/usr/bin/env")}\nreason = "not today"`);
    const kept = await place.faraday(["/usr/bin/env"], { policy });
    expect(kept.exit).toBe(126);
    expect(kept.stdout).toBe("");
    for (const text of ["r1", "not today", "/usr/bin/env", 'action = "allow"']) {
      expect(kept.stderr).toContain(text);
    }
    expect(kept.records.map(({ event, action }) => [event, action])).toEqual([
      ["start", undefined],
      ["exec", "deny"],
      ["end", undefined],
    ]);
    expect((await place.faraday(["/usr/bin/env"])).exit).toBe(0);
  });

  test("126: a program of no format that even a shell cannot run is a shell script", async () => {
    const file = place.write("script", "exit 9\n");
    chmodSync(file, 0o755);
    expect((await place.faraday([file])).exit).toBe(9);
  });

  test("125: a policy with a mistake starts nothing", async () => {
    const { words } = place.faradayWords(["touch", "started"], { policy: "[meta]\nwrong = 1\n" });
    const kept = await place.bare(words);
    expect(kept.exit).toBe(125);
    expect((await place.bare(["ls", "started"])).exit).not.toBe(0);
  });
});

describe("a search through PATH", () => {
  const search = (path: string): string[] => ["sh", "-c", `PATH=${path}; tool; echo $?`];
  test.each([
    ["misses", "/nonexistent:/tmp/nonexistent"],
    ["meets a file that is not executable", `${place.path}/a:/nonexistent`],
    ["finds it late", `/nonexistent:${place.path}/a:${place.path}/b`],
  ])("%s as without Faraday", async (_, path) => {
    await place.bare([
      "sh",
      "-c",
      "mkdir -p a b; : > a/tool; printf 'echo found' > b/tool; chmod 755 b/tool",
    ]);
    const bare = await place.bare(search(path));
    const kept = await place.faraday(search(path));
    expect([kept.stdout, kept.stderr, kept.exit]).toEqual([bare.stdout, bare.stderr, bare.exit]);
  });
});
