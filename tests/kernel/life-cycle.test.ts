import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { readRecords, Workplace } from "./faraday-run.ts";
import { PYTHON } from "./test-programs.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

/** Starts Faraday and hands control over when the command has written a line. */
async function whileRunning(
  command: readonly string[],
  act: (supervisor: number, line: string) => Promise<void> | void,
  flags: readonly string[] = [],
): Promise<{
  exit: number | null;
  signal: string | number | null;
  rest: string;
  stderr: string;
  audit: string;
}> {
  const { words, auditPath } = place.faradayWords(command, { flags });
  const child = Bun.spawn([...words], { cwd: place.path, stdout: "pipe", stderr: "pipe" });
  const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
  const reader = child.stdout.getReader();
  const text = new TextDecoder();
  let seen = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    seen += text.decode(part.value);
    if (seen.includes("\n")) break;
  }
  const [line = "", ...rest] = seen.split("\n");
  await act(child.pid, line);
  let after = rest.join("\n");
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    after += text.decode(part.value);
  }
  const stderr = await new Response(child.stderr).text();
  await child.exited;
  clearTimeout(timer);
  return {
    exit: child.exitCode,
    signal: child.signalCode,
    rest: after,
    stderr,
    audit: auditPath,
  };
}

/** Waits for something that is sure to come; a bound keeps a bug from hanging the tests. */
async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2000 && !condition(); turn++) await Bun.sleep(5);
  expect(condition()).toBe(true);
}

function isAlive(pid: number): boolean {
  try {
    return !/^\S+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

describe("signals to Faraday reach the command", () => {
  test.each(["TERM", "HUP", "USR1", "USR2", "INT", "QUIT"])("%s", async (name) => {
    const loop = "while :; do sleep 0.05; done";
    const trap = `trap 'echo got ${name}; exit 5' ${name}; echo ready; ${loop}`;
    const run = await whileRunning(["sh", "-c", trap], (pid) => {
      process.kill(pid, `SIG${name}`);
    });
    expect([run.rest, run.exit]).toEqual([`got ${name}\n`, 5]);
  });

  test("a command that dies by the signal is told apart by 128 + n", async () => {
    const run = await whileRunning(["sh", "-c", "echo ready; exec sleep 60"], (pid) => {
      process.kill(pid, "SIGTERM");
    });
    expect(run.exit).toBe(143);
    expect(readRecords(run.audit).at(-1)).toMatchObject({ event: "end", exit: 143, signal: 15 });
  });

  test("a command that is stopped stops Faraday, and is continued with it", async () => {
    const state = (pid: number): string =>
      /^\S+ \(.*\) (\S)/s.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1] ?? "";
    const script = "trap 'echo over; exit 3' TERM; echo $$; while :; do sleep 0.05; done";
    const run = await whileRunning(["sh", "-c", script], async (supervisor, line) => {
      process.kill(Number(line), "SIGSTOP");
      await until(() => state(supervisor) === "T");
      expect(state(Number(line))).toBe("T");
      process.kill(supervisor, "SIGCONT");
      await until(() => state(Number(line)) !== "T" && state(supervisor) !== "T");
      process.kill(supervisor, "SIGTERM");
    });
    expect([run.rest, run.exit]).toEqual(["over\n", 3]);
  });
});

describe("what the command leaves running", () => {
  const daemon =
    "(trap 'echo ended > ended; exit' TERM; echo $$ > alive; while :; do sleep 0.05; done)";

  test.each([
    ["in the background", `${daemon} & until [ -s alive ]; do sleep 0.01; done`],
    [
      "in a session of its own",
      `setsid sh -c "${daemon.replaceAll("$", "\\$")}" & until [ -s alive ]; do sleep 0.01; done`,
    ],
  ])("is ended with an announcement: %s", async (_, script) => {
    await place.bare(["rm", "-f", "alive", "ended"]);
    const kept = await place.faraday(["sh", "-c", `${script}; exit 4`]);
    expect(kept.exit).toBe(4);
    expect(existsSync(place.at("ended"))).toBe(true);
    expect(kept.stderr).toMatch(
      /^faraday: ending \d+ process(es)? that the command left running: /,
    );
    const { leftovers } = kept.records.at(-1) ?? {};
    expect(leftovers).toMatchObject({ handled: "ended" });
    expect(leftovers?.count).toBeGreaterThan(0);
  });

  test("is killed if it does not end by itself", async () => {
    const stubborn = `import os, signal, time
reader, writer = os.pipe()
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.setsid()
    print(os.getpid(), flush=True)
    os.write(writer, b"x")
    time.sleep(1000)
os.read(reader, 1)`;
    const kept = await place.faraday([PYTHON, "-c", stubborn]);
    expect(kept.exit).toBe(0);
    expect(Number(kept.stdout)).toBeGreaterThan(1);
    expect(isAlive(Number(kept.stdout))).toBe(false);
  });

  test("a daemon of double forks is found", async () => {
    const fork = `import os, time
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        os.write(writer, b"x")
        time.sleep(1000)
    os._exit(0)
os.wait()
os.read(reader, 1)`;
    const kept = await place.faraday([PYTHON, "-c", fork]);
    expect(kept.exit).toBe(0);
    expect(isAlive(Number(kept.stdout))).toBe(false);
    expect(kept.stderr).toContain("left running");
  });

  test("is waited for with --wait-all", async () => {
    const script = "(sleep 0.3; echo late) & exit 6";
    const kept = await place.faraday(["sh", "-c", script], { flags: ["--wait-all"] });
    expect([kept.stdout, kept.exit]).toEqual(["late\n", 6]);
    expect(kept.stderr).toContain("faraday: waiting for ");
    expect(kept.records.at(-1)?.leftovers?.handled).toBe("waited");
  });

  test("nothing is said when nothing is left", async () => {
    const kept = await place.faraday(["sh", "-c", "sleep 0.01 & wait"]);
    expect(kept.stderr).toBe("");
    expect(kept.records.at(-1)?.leftovers).toEqual({ count: 0, handled: "none" });
  });
});

test("output through a pipe that is closed ends the command as without Faraday", async () => {
  const { words } = place.faradayWords(["yes"]);
  const quoted = words.map((word) => `'${word}'`).join(" ");
  const kept = await place.bare(["bash", "-c", `${quoted} | head -1; echo \${PIPESTATUS[0]}`]);
  expect(kept.stdout).toBe("y\n141\n");
});
