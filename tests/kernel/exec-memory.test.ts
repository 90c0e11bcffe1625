import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { actionsOf, recordsOf, Workplace } from "./faraday-run.ts";
import { allowBut, PYTHON } from "./test-programs.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

/** A verdict is remembered. Each of these changes one thing that it was made from. */
describe("the same program is judged anew", () => {
  test("in another working directory, back and forth", async () => {
    mkdirSync(place.at("open"));
    mkdirSync(place.at("closed"));
    const policy = allowBut(`exe_basename = "true"\ncwd_glob = "${place.path}/closed"`);
    const script = `for i in 1 2 3; do
  (cd open && /bin/true && echo allowed); (cd closed && /bin/true || echo refused)
done`;
    const run = await place.faraday(["bash", "-c", script], { policy });
    expect(run.stdout).toBe("allowed\nrefused\n".repeat(3));
    const allowed = recordsOf(run.records, "true").filter(({ action }) => action === "allow");
    expect(allowed.map(({ cwd }) => cwd)).toEqual(Array(3).fill(place.at("open")));
  });

  test("with other arguments", async () => {
    const policy = allowBut('exe_basename = "true"\nargv_contains = "secret"');
    const script = "for word in a a secret a secre t; do /bin/true $word && echo $word; done";
    const run = await place.faraday(["bash", "-c", script], { policy });
    expect(run.stdout).toBe("a\na\na\nsecre\nt\n");
    expect(recordsOf(run.records, "true").map(({ argv }) => argv?.[1])).toEqual([
      "a",
      "a",
      "secret",
      "a",
      "secre",
      "t",
    ]);
  });

  test("when the link to it leads elsewhere", async () => {
    const policy = allowBut('exe = "/usr/bin/id"');
    const script = `run() { ./link > /dev/null && echo ran || echo refused; }
ln -s /usr/bin/true link; run; run; ln -sfn /usr/bin/id link; run; ln -sfn /usr/bin/true link; run`;
    const run = await place.faraday(["bash", "-c", script], { policy });
    expect(run.stdout).toBe("ran\nran\nrefused\nran\n");
    expect(actionsOf(run.records, "link")).toEqual(["allow", "allow", "deny", "allow"]);
  });

  test("when another file takes its place", async () => {
    const policy = allowBut('exe = "/usr/bin/id"');
    const script = `run() { ./program > /dev/null && echo ran || echo refused; }
cp /usr/bin/true program; run; run
printf '#!/usr/bin/id\\n' > new; chmod +x new; mv new program; run
cp /usr/bin/true new; mv new program; run`;
    const run = await place.faraday(["bash", "-c", script], { policy });
    expect(run.stdout).toBe("ran\nran\nrefused\nran\n");
  });

  test("and each start has its own record", async () => {
    const script = "for i in 1 2 3 4 5; do /bin/true; done; echo $$";
    const run = await place.faraday(["bash", "-c", script]);
    const records = recordsOf(run.records, "true");
    expect(new Set(records.map(({ pid }) => pid)).size).toBe(5);
    expect(new Set(records.map(({ ppid }) => ppid))).toEqual(new Set([Number(run.stdout)]));
    const stable = records.map(({ ts: _ts, pid: _pid, ...rest }) => rest);
    expect(stable).toEqual(Array(5).fill(stable[0]));
    expect(records.map(({ ts }) => Number(ts))).toEqual(
      records.map(({ ts }) => Number(ts)).toSorted((a, b) => a - b),
    );
  });
});

/** The supervisor waits for a start in a way that hears of nothing else for some milliseconds. */
describe("a start that is waited for holds nothing up", () => {
  test("when it fails after all, and the caller tries the next one at once", async () => {
    // It looks like a program, and only the kernel finds out that it is none.
    place.write("broken", "\x7fELF and nothing more", 0o755);
    const program = `import os
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        try: os.execv("./broken", ["broken"])
        except OSError: os.execv("/bin/true", ["true"])
    assert os.waitpid(pid, 0)[1] == 0
print("done")`;
    const run = await place.faraday([PYTHON, "-c", program]);
    expect(run.stdout).toBe("done\n");
    expect(actionsOf(run.records, "true")).toHaveLength(20);
  });

  test("when many are started at once", async () => {
    const script = `for i in $(seq 60); do /bin/true & done; wait; /bin/echo done`;
    const run = await place.faraday(["bash", "-c", script]);
    expect(run.stdout).toBe("done\n");
    expect(actionsOf(run.records, "true")).toEqual(Array(60).fill("allow"));
  });

  test("when the command stops itself right after, and is continued", async () => {
    const script = "for i in $(seq 20); do /bin/true; done; kill -STOP $$; /bin/echo went on";
    const { words } = place.faradayWords(["bash", "-c", script]);
    const program = `import os, signal, sys
pid = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status = os.waitpid(pid, os.WUNTRACED)
print("stopped", os.WIFSTOPPED(status), flush=True)
os.kill(pid, signal.SIGCONT)
print("exit", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;
    const run = await place.bare([PYTHON, "-c", program, ...words]);
    expect(run.stdout).toBe("stopped True\nwent on\nexit 0\n");
  });
});
