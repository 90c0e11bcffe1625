import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { FARADAY, readRecords, recordsOf, Workplace } from "./faraday-run.ts";
import { PYTHON } from "./test-programs.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

const run = (audit: string, ...command: readonly string[]) =>
  place.bare([FARADAY, "run", "--audit", audit, "--", ...command]);

describe("the audit log", () => {
  test("is made with mode 0600 and appended to", async () => {
    const log = place.at("log.jsonl");
    await place.bare(["sh", "-c", `umask 0; exec ${FARADAY} run --audit ${log} -- true`]);
    expect(statSync(log).mode & 0o777).toBe(0o600);
    const first = readFileSync(log, "utf8");
    await run(log, "true");
    const both = readFileSync(log, "utf8");
    expect(both).toStartWith(first);
    const sessions = new Set(readRecords(log).map(({ session }) => session));
    expect(sessions.size).toBe(2);
    expect(readRecords(log).map(({ event }) => event)).toEqual([
      "start",
      "exec",
      "end",
      "start",
      "exec",
      "end",
    ]);
  });

  test("begins with what is in force and ends with how it went", async () => {
    const kept = await place.faraday(["sh", "-c", "/bin/true; /nonexistent; exit 3"]);
    const [start] = kept.records;
    expect(start).toMatchObject({
      v: 1,
      event: "start",
      policy: { path: "builtin:default", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      argv: ["sh", "-c", "/bin/true; /nonexistent; exit 3"],
      cwd: place.path,
      layers: { exec: { state: "enforced" } },
    });
    expect(kept.records.at(-1)).toMatchObject({
      event: "end",
      exit: 3,
      signal: null,
      counts: { allow: 2, deny: 0, error: 1, mismatch: 0 },
    });
  });

  test("has the record of a program before the program runs", async () => {
    const log = place.at("order.jsonl");
    const look = `import sys; print(sum('"look-for-me"' in l for l in open(sys.argv[1])))`;
    for (let round = 0; round < 20; round++) {
      rmSync(log, { force: true });
      const kept = await run(log, PYTHON, "-S", "-c", look, log, "look-for-me");
      // Two lines: the first of the log, which has the argv of the run, and the exec's own.
      expect(kept.stdout).toBe("2\n");
    }
  });

  test("keeps bytes that are not UTF-8", async () => {
    const script = `import os
os.makedirs(b"d\\xff\\xfe", exist_ok=True)
os.chdir(b"d\\xff\\xfe")
open(b"t\\x80", "w").write("#!/bin/sh\\n")
os.chmod(b"t\\x80", 0o755)
os.execv(b"./t\\x80", [b"a\\xff", b"plain", b"\\xc3\\xa9", b"\\xed\\xa0\\x80"])`;
    const kept = await place.faraday([PYTHON, "-c", script]);
    expect(kept.exit).toBe(0);
    const record = kept.records.find(({ argv }) => argv?.[1] === "plain");
    const decode = (text: string | undefined): string =>
      Buffer.from(text ?? "", "base64").toString("latin1");
    expect(record?.argv?.[2]).toBe("é");
    expect(record?.bytes?.argv?.map(decode)).toEqual([
      "a\xff",
      "plain",
      "\xc3\xa9",
      "\xed\xa0\x80",
    ]);
    expect(decode(record?.bytes?.cwd)).toBe(`${place.path}/d\xff\xfe`);
    expect(decode(record?.bytes?.exe)).toBe(`${place.path}/d\xff\xfe/t\x80`);
  });

  test("is one line a record whatever the arguments hold", async () => {
    const kept = await place.faraday([
      "/bin/true",
      'line\nbreak", "action": "deny',
      "\u2028",
      "\r",
    ]);
    expect(recordsOf(kept.records, "true")).toMatchObject([
      { argv: ["/bin/true", 'line\nbreak", "action": "deny', "\u2028", "\r"], action: "allow" },
    ]);
  });
});

describe("a log that the command can reach", () => {
  const events = (path: string): string[] =>
    readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line).event);

  test("is written again if it was removed, and nothing is said if it was not", async () => {
    const log = place.at("removed.jsonl");
    const removed = await run(log, "rm", log);
    expect(removed.stderr).toContain(
      "was removed while the command ran, and has been written again",
    );
    expect(events(log)).toEqual(["start", "exec", "end"]);
    const left = await run(log, "true");
    expect(left.stderr).toBe("");
    expect(events(log)).toHaveLength(6);
  });

  test("is written beside what was put in its place, and no link is followed", async () => {
    const log = place.at("replaced.jsonl");
    const target = place.write("target", "mine\n");
    const kept = await run(log, "ln", "-sf", target, log);
    expect(kept.stderr).toContain("was replaced while the command ran: what was recorded is in");
    expect(readFileSync(target, "utf8")).toBe("mine\n");
    const name = /replaced\.jsonl\.[0-9a-f]{16}/.exec(kept.stderr)?.[0] ?? "";
    expect(events(place.at(name))).toEqual(["start", "exec", "end"]);
  });

  test("is told to be cut", async () => {
    const log = place.at("cut.jsonl");
    const kept = await run(log, "sh", "-c", `: > ${log}`);
    expect(kept.stderr).toContain("was cut while the command ran: records are missing");
  });
});

describe("a log that cannot be written", () => {
  const started = place.at("started");
  const command = ["touch", started];

  test("starts nothing if it cannot even be opened", async () => {
    for (const path of ["/dev/full", "/nonexistent/log", place.path]) {
      const kept = await run(path, ...command);
      expect([path, kept.exit]).toEqual([path, 125]);
      expect(kept.stderr).toStartWith("faraday: the audit log cannot be ");
      expect(existsSync(started)).toBe(false);
    }
  });

  test("ends the run with 125 when it fails later", async () => {
    const log = place.at("limited.jsonl");
    // The limit is on our own file size, in blocks of 1024 bytes: a few records are too much.
    const loop = `for i in 1 2 3 4 5 6 7 8; do /bin/true ${"x".repeat(600)}; done`;
    const script = `${loop}; touch ${started}`;
    const limited = `ulimit -f 3; exec ${FARADAY} run --audit ${log} -- sh -c '${script}'`;
    const kept = await place.bare(["bash", "-c", limited]);
    expect(kept.exit).toBe(125);
    expect(kept.stderr).toContain("faraday: the audit log could not be written");
    expect(existsSync(started)).toBe(false);
  });

  test("a closed pipe ends the run with 125", async () => {
    const script = `import os, sys
reader, writer = os.pipe()
os.set_inheritable(writer, True)
pid = os.fork()
if pid == 0:
    os.close(reader)
    os.execv(sys.argv[1], [*sys.argv[1:4], f"/proc/self/fd/{writer}", *sys.argv[4:]])
os.close(writer)
os.read(reader, 1)
os.close(reader)
open("closed", "w").close()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;
    const loop = `until [ -e closed ]; do :; done; /bin/true; /bin/true; touch ${started}`;
    const words = [FARADAY, "run", "--audit", "--", "sh", "-c", loop];
    const kept = await place.bare([PYTHON, "-c", script, ...words]);
    expect(kept.exit).toBe(125);
    expect(existsSync(started)).toBe(false);
  });

  test('does not matter under on_error = "continue"', async () => {
    const policy = place.write(
      "continue.toml",
      '[meta]\ndefault_action = "allow"\n[audit]\non_error = "continue"\n',
    );
    const words = [
      "run",
      "--policy",
      policy,
      "--audit",
      "/dev/full",
      "--",
      "sh",
      "-c",
      "/bin/echo on; exit 3",
    ];
    const kept = await place.bare([FARADAY, ...words]);
    expect([kept.stdout, kept.exit]).toEqual(["on\n", 3]);
  });
});
