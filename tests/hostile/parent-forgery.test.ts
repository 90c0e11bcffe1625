import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { recordsOf, Workplace } from "../kernel/faraday-run.ts";
import { compile, PYTHON } from "../kernel/test-programs.ts";

const place = new Workplace();
const tool = place.at("tool");

beforeAll(async () => {
  await compile(place, "tool", `#include <stdio.h>\nint main(void) { puts("tool ran"); }`);
});
afterAll(() => place[Symbol.dispose]());

/** The tool may be started by a process that was started as `trusted`, and by nobody else. */
const policy = `[meta]
default_action = "allow"
[[rule]]
id = "by-trusted"
action = "allow"
exe = "${tool}"
parent_argv = "^trusted "
[[rule]]
id = "by-others"
action = "deny"
exe = "${tool}"
`;

const SPAWN = `
import os, sys
child = os.fork()
if child == 0:
    try:
        os.execv(sys.argv[1], ["tool"])
    except OSError as error:
        print(error.strerror, flush=True)
        os._exit(1)
os.waitpid(child, 0)
`;

/** Overwrites the memory that /proc/self/cmdline shows. */
const FORGE = `
import ctypes
stat = open("/proc/self/stat").read()
start = int(stat[stat.rindex(")") + 2:].split()[45])
ctypes.memmove(start, b"trusted \\0", 9)
assert open("/proc/self/cmdline").read().startswith("trusted "), "not forged"
`;

async function outcome(code: string, argv0 = "python3"): Promise<string> {
  const start = `exec -a ${argv0} ${PYTHON} -c "$0" ${tool}`;
  const kept = await place.faraday(["bash", "-c", start, code], { policy });
  expect(recordsOf(kept.records, "tool")).toHaveLength(1);
  return kept.stdout;
}

describe("a parent is what it was at its own exec", () => {
  test("the trusted parent may start the tool", async () => {
    expect(await outcome(SPAWN, "trusted")).toBe("tool ran\n");
  });

  test("another parent may not", async () => {
    expect(await outcome(SPAWN)).toBe("Permission denied\n");
  });

  test("nor if it rewrites its own argv", async () => {
    expect(await outcome(FORGE + SPAWN)).toBe("Permission denied\n");
  });

  test("nor if an orphan rewrites its argv, whose origin is gone", async () => {
    const orphan = `
import os, time
reader, writer = os.pipe()
if os.fork() == 0:
    middle = os.getppid()
    if os.fork() != 0: os._exit(0)
    while os.getppid() not in (1, int(os.environ["SUPERVISOR"])): time.sleep(0.001)
${[...(FORGE + SPAWN).split("\n")].map((line) => `    ${line}`).join("\n")}
    os.write(writer, b"x")
    os._exit(0)
os.wait()
os.close(writer)
os.read(reader, 1)
`;
    const code = `import os\nos.environ["SUPERVISOR"] = str(os.getppid())\n${orphan}`;
    const start = `exec -a python3 ${PYTHON} -c "$0" ${tool}`;
    const kept = await place.faraday(["bash", "-c", start, code], { policy });
    expect(kept.stdout).toBe("Permission denied\n");
  });

  test("nor if it moves its argv with PR_SET_MM", async () => {
    const move = `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
forged = ctypes.create_string_buffer(b"trusted \\0")
for option, value in ((8, ctypes.addressof(forged)), (9, ctypes.addressof(forged) + 9)):
    assert libc.prctl(35, option, ctypes.c_ulong(value), 0, 0) == -1
`;
    expect(await outcome(move + SPAWN)).toBe("Permission denied\n");
  });

  test("nor if it calls itself so by prctl", async () => {
    const rename = `import ctypes\nctypes.CDLL(None).prctl(15, b"trusted ", 0, 0, 0)\n`;
    expect(await outcome(rename + SPAWN)).toBe("Permission denied\n");
  });
});

describe("a process keeps the parent that forked it", () => {
  const kept = async (words: readonly string[]): Promise<string> => {
    const ran = await place.faraday(words, { policy });
    expect(recordsOf(ran.records, "tool")).toHaveLength(1);
    return ran.stderr;
  };
  /** Waits until the shell that it was forked from has become the trusted program. */
  const WAIT = `until grep -q "^trusted" /proc/$$/cmdline; do sleep 0.05; done;`;

  test.each([
    ["itself", `bash -c 'exec ${tool}'`],
    ["a child", `bash -c '${tool}; :'`],
    ["a subshell", `(${tool})`],
  ])("that becomes the trusted program later does not help %s", async (_, start) => {
    // The shell forks first and becomes the trusted program then.
    const code = `{ ${WAIT} ${start}; } & exec -a trusted sleep 2`;
    expect(await kept(["bash", "-c", code])).toContain("Permission denied");
  });

  /** An orphan's child is given to the process that asked for orphans and is trusted by now. */
  const ADOPT = `
import ctypes, os, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
reaper = os.getpid()
if os.fork() == 0:
    while b"trusted" not in open(f"/proc/{reaper}/cmdline", "rb").read(): time.sleep(0.01)
    if os.fork() != 0: os._exit(0)
    while os.getppid() != reaper: time.sleep(0.01)
    try:
        os.execv(sys.argv[1], ["tool"])
    except OSError as error:
        print(error.strerror, file=sys.stderr)
        os._exit(1)
os.execv("/bin/sleep", ["trusted", "2"])
`;

  test("a trusted program does not adopt it", async () => {
    expect(await kept([PYTHON, "-c", ADOPT, tool])).toContain("Permission denied");
  });

  test("who asks for orphans gets them, and its own children are its own", async () => {
    const code = `import ctypes\nassert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0\n${SPAWN}`;
    const rules = policy.replace('parent_argv = "^trusted "', 'parent_exe = "**/python3*"');
    const ran = await place.faraday([PYTHON, "-c", code, tool], { policy: rules });
    expect(ran.stdout).toBe("tool ran\n");
  });
});

describe("an orphan keeps its origin", () => {
  const denied = (condition: string): string => `[meta]
default_action = "allow"
[[rule]]
id = "not-by-python"
action = "deny"
exe = "${tool}"
${condition}
`;
  /** Forks twice and lets the one between die, so that the kernel gives the last one to us. */
  const orphaned = (before: string): string => `
import os, sys, time
reader, writer = os.pipe()
parent = os.getppid()
if os.fork() == 0:
    if os.fork() != 0: os._exit(0)
    while os.getppid() not in (1, parent): time.sleep(0.001)
${before
  .split("\n")
  .map((line) => `    ${line}`)
  .join("\n")}
    try:
        os.execv(sys.argv[1], ["tool"])
    except OSError as error:
        print(error.strerror, flush=True)
        os._exit(1)
os.close(writer)
os.read(reader, 1)
`;
  const run = (policy: string, code: string, ...shell: readonly string[]) =>
    place.faraday([...shell, PYTHON, "-c", code, tool], { policy });

  test.each([
    { condition: `parent_exe = "python3*"`, before: "", because: "its program is known" },
    { condition: `parent_argv = "python"`, before: "", because: "its arguments are known" },
    { condition: `parent_argv = "python"`, before: FORGE, because: "forging them does not help" },
  ])("$condition denies it: $because", async ({ condition, before }) => {
    const kept = await run(denied(condition), orphaned(before));
    expect(kept.stdout).toBe("Permission denied\n");
  });

  test("another origin is not taken for it", async () => {
    const kept = await run(denied(`parent_exe = "perl"`), orphaned(""));
    expect(kept.stdout).toBe("tool ran\n");
    const shell = await place.faraday(["sh", "-c", `${tool}; :`], {
      policy: denied(`parent_exe = "python3*"`),
    });
    expect(shell.stdout).toBe("tool ran\n");
  });
});
