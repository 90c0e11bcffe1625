import { afterAll, describe, expect, test } from "bun:test";
import { Workplace } from "./faraday-run.ts";
import { PYTHON } from "./test-programs.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

/** Prints what a program finds at its start, a JSON object of fields. */
const SNAPSHOT = `
import json, os, resource, sys
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
fds = {}
for name in sorted(os.listdir("/proc/self/fd"), key=int):
    try:
        stat = os.fstat(int(name))
        fds[name] = [stat.st_dev, stat.st_ino, stat.st_rdev]
    except OSError:
        pass
print(json.dumps({
    "SigIgn": status["SigIgn"], "SigBlk": status["SigBlk"], "SigPnd": status["SigPnd"],
    "SigCgt": status["SigCgt"], "Umask": status["Umask"], "Groups": status["Groups"],
    "Uid": status["Uid"], "Gid": status["Gid"], "Cpus": status["Cpus_allowed"],
    "CoreDumping": status["CoreDumping"], "THP": status.get("THP_enabled"),
    "limits": open("/proc/self/limits").read(), "fds": fds,
    "environ": open("/proc/self/environ", "rb").read().hex(),
    "argv": open("/proc/self/cmdline", "rb").read().hex(),
    "cwd": os.getcwdb().hex(), "nice": os.nice(0), "oom": open("/proc/self/oom_score_adj").read(),
    "session": os.getsid(0), "group": os.getpgrp(),
    "personality": open("/proc/self/personality").read(),
    "slack": open("/proc/self/timerslack_ns").read(), "scheduler": os.sched_getscheduler(0),
}))
`;

/** Starts commands one after the other, each in surroundings that are made just before. */
const SURROUND = `
import json, os, resource, signal, sys
for number in (signal.SIGPIPE, signal.SIGXFSZ): signal.signal(number, signal.SIG_DFL)
os.setsid()
environment = dict(os.environb)
for words in json.loads(sys.argv[2]):
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        exec(sys.argv[1])
        os.execve(words[0], words, environment)
    status = os.waitpid(child, 0)[1]
    assert status == 0, (words, status)
`;

type Snapshot = Readonly<Record<string, unknown>>;

/** What the same command finds in the same surroundings. */
async function snapshots(setUp: string): Promise<{ bare: Snapshot; kept: Snapshot }> {
  const command = [PYTHON, "-S", "-E", "-c", SNAPSHOT, "word"];
  const { words } = place.faradayWords(command);
  const commands = JSON.stringify([command, words]);
  const both = await place.bare([PYTHON, "-c", SURROUND, setUp, commands]);
  expect(both.stderr).toBe("");
  const [bare = "{}", kept = "{}"] = both.stdout.split("\n");
  return { bare: JSON.parse(bare) as Snapshot, kept: JSON.parse(kept) as Snapshot };
}

describe("a command finds what it would find without Faraday", () => {
  const devNull = "os.open('/dev/null', os.O_RDONLY)";
  test.each([
    ["as the test was started", "pass"],
    ["SIGHUP ignored, as by nohup", "signal.signal(signal.SIGHUP, signal.SIG_IGN)"],
    [
      "many signals ignored",
      "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 10, 12, 15, 17, 18, 21, 28, 34, 64)]",
    ],
    ["signals blocked", "signal.pthread_sigmask(signal.SIG_BLOCK, [1, 10, 15, 34, 64])"],
    ["few open files", "resource.setrlimit(resource.RLIMIT_NOFILE, (777, 4000))"],
    ["core files forbidden", "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))"],
    ["small stack", "resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 22))"],
    ["umask", "os.umask(0o157)"],
    ["nice", "os.nice(5)"],
    ["oom score", "open('/proc/self/oom_score_adj', 'w').write('321')"],
    ["bytes in the environment", "environment = {b'A': b'\\xff=', b'B\\x80': b'', b'Z': b' x'}"],
    ["empty environment", "environment = {}"],
    ["environment for Bun", "environment = {b'BUN_X': b'1', b'NO_COLOR': b'1', b'NODE_ENV': b'y'}"],
    ["timer slack", "open('/proc/self/timerslack_ns', 'w').write('123456')"],
    ["scheduler", "os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))"],
    ["one processor", "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])"],
    ["no standard input", "os.close(0)"],
    ["no standard streams but output", "os.close(0); os.close(2)"],
    ["directory in bytes", "os.makedirs(b'd\\xff', exist_ok=True); os.chdir(b'd\\xff')"],
    ["inherited descriptors", `os.dup2(${devNull}, 9); os.set_inheritable(9, False)`],
  ])("%s", async (_, setUp) => {
    const { bare, kept } = await snapshots(setUp);
    expect(kept).toEqual(bare);
  });

  test.each([
    { flags: [], open: "" },
    { flags: ["--keep-fd", "70"], open: "70\n" },
    { flags: ["--keep-fd", "40", "--keep-fd", "300"], open: "40\n300\n" },
  ])("descriptors above 2 are closed unless they are named: $flags", async ({ flags, open }) => {
    const list = "for n in 40 50 70 300; do [ -e /proc/$$/fd/$n ] && echo $n; done; true";
    const command = ["/bin/sh", "-c", list];
    const { words } = place.faradayWords(command, { flags });
    const setUp = `[os.dup2(${devNull}, n, inheritable=True) for n in (40, 50, 70, 300)]`;
    const commands = JSON.stringify([command, words]);
    const both = await place.bare([PYTHON, "-c", SURROUND, setUp, commands]);
    expect(both.stdout).toBe(`40\n50\n70\n300\n${open}`);
  });
});
