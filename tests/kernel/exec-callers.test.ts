import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { EXEC_CALLER_SOURCE } from "./exec-caller-source.ts";
import { readRecords, recordsOf, runCommand, Workplace } from "./faraday-run.ts";
import { allowBut, compile, exe, PYTHON } from "./test-programs.ts";

const place = new Workplace();
const caller = place.at("caller");
const counter = place.at("counter");
const policy = allowBut(exe("/nonexistent/denied"));

beforeAll(async () => {
  await compile(place, "caller", EXEC_CALLER_SOURCE, ["-pthread"]);
  const source = `#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  long bytes = 0;
  for (int i = 0; i < argc; i++) bytes += strlen(argv[i]) + 1;
  printf("%d arguments, %ld bytes\\n", argc, bytes);
}`;
  await compile(place, "counter", source);
});
afterAll(() => place[Symbol.dispose]());

describe("argument lists arrive whole and are recorded whole", () => {
  test.each([
    ["null-argv", 1],
    ["empty-argv", 1],
    ["argument-max", 2],
    ["two-mebibytes", 17],
    ["ten-thousand", 10_001],
  ])("%s", async (way, count) => {
    const bare = await place.bare([caller, way, counter]);
    const kept = await place.faraday([caller, way, counter], { policy });
    expect(kept.stdout).toBe(bare.stdout);
    expect(kept.stdout).toStartWith(`${count} arguments`);
    const [record] = recordsOf(kept.records, "counter");
    expect(record?.action).toBe("allow");
    expect(record?.argv).toHaveLength(count);
    const bytes = (record?.argv ?? []).reduce((sum, word) => sum + word.length + 1, 0);
    expect(kept.stdout).toContain(`, ${bytes} bytes`);
    expect(kept.records.at(-1)?.counts?.mismatch).toBe(0);
  });
});

describe("signals and deaths while a call is judged", () => {
  test.each(["timer-restart", "timer-no-restart", "timer-urgent"])(
    "%s: a hundred execs under a millisecond timer",
    async (way) => {
      const kept = await place.faraday([caller, way, counter], { policy });
      expect(kept.exit).toBe(0);
      expect(kept.stdout.split("\n").filter((line) => line !== "")).toHaveLength(100);
      expect(recordsOf(kept.records, "counter").length).toBeGreaterThanOrEqual(100);
    },
  );

  test("callers that are killed at any moment leave the gate as it was", async () => {
    const command = `${caller} killed ${counter} && ${counter}`;
    const kept = await place.faraday(["sh", "-c", command], { policy });
    expect(kept.exit).toBe(0);
    expect(kept.stdout).toEndWith("1 arguments, ".concat(`${counter.length + 1} bytes\n`));
    // What dies by itself was not denied.
    expect(kept.stderr).toBe("");
  });

  test("threads that execute at the same time: one does, and nothing hangs", async () => {
    const source = `#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static void *start(void *path) { execl(path, "counter", NULL); return NULL; }
int main(int argc, char **argv) {
  for (int round = 0; round < 300; round++) {
    pid_t child = fork();
    if (child == 0) {
      pthread_t threads[4];
      for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, start, argv[1]);
      start(argv[1]);
      pause();
    }
    int status;
    waitpid(child, &status, 0);
    if (status != 0) printf("status %x\\n", status);
  }
}`;
    const crowd = await compile(place, "crowd", source, ["-pthread"]);
    const kept = await place.faraday([crowd, counter], { policy });
    expect([kept.exit, kept.stderr]).toEqual([0, ""]);
    expect(kept.stdout).toBe("1 arguments, 8 bytes\n".repeat(300));
  });

  test("a thread goes on when the exec of another has failed", async () => {
    const source = `#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <unistd.h>
static void *fail(void *path) { execl(path, "x", NULL); return NULL; }
int main(int argc, char **argv) {
  pthread_t thread;
  pthread_create(&thread, NULL, fail, argv[1]);
  pthread_join(thread, NULL);
  execl(argv[2], "counter", NULL);
  puts(strerror(errno));
}`;
    const after = await compile(place, "after-failure", source, ["-pthread"]);
    // Executable by its mode, and nothing that the kernel could start.
    const empty = place.write("empty", "", 0o755);
    const kept = await place.faraday([after, empty, counter], { policy });
    expect(kept.stdout).toBe("1 arguments, 8 bytes\n");
  });
});

describe("many at once", () => {
  test("500 execs, sixteen at a time, all run and all have their record", async () => {
    const words = Array.from({ length: 500 }, (_, index) => `n${index}`).join("\n");
    const command = ["xargs", "-P16", "-n1", counter];
    const kept = await place.faraday(command, { policy, stdin: words });
    expect(kept.exit).toBe(0);
    const recorded = recordsOf(kept.records, "counter").map(({ argv }) => argv?.[1]);
    expect(new Set(recorded).size).toBe(500);
    expect(recorded).toHaveLength(500);
    expect(kept.stdout.match(/2 arguments/g)).toHaveLength(500);
  });

  test("make -j8 builds", async () => {
    const goals = Array.from({ length: 64 }, (_, index) => `t${index}`);
    const rules = goals.map((goal) => `${goal}:\n\t@${counter} > ${goal}.out`);
    place.write("Makefile", `all: ${goals.join(" ")}\n${rules.join("\n")}\n`);
    const kept = await place.faraday(["make", "-s", "-j8"], { policy });
    expect([kept.exit, kept.stdout, kept.stderr]).toEqual([0, "", ""]);
    expect(recordsOf(kept.records, "counter")).toHaveLength(64);
  });

  test("an exec that cannot finish does not hold up the others", async () => {
    // A thread execs while its sibling is held at its exit by a tracer, so it waits for it.
    const kept = await place.faraday([PYTHON, "-c", STUCK_EXEC, counter], { policy });
    expect(kept.stderr).toBe("");
    expect(kept.stdout).toMatch(/^(1 arguments, \d+ bytes\n){20}released\n$/);
  });
});

/** PTRACE_O_TRACEEXIT stops a thread of the child on its way out, for as long as we like. */
const STUCK_EXEC = `
import ctypes, os, signal, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
SEIZE, CONT, TRACEEXIT, WALL = 0x4206, 7, 0x40, 0x40000000
ready, go = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    def sibling():
        os.write(ready[1], str(threading.get_native_id()).encode())
        time.sleep(1000)
    threading.Thread(target=sibling, daemon=True).start()
    os.read(go[0], 1)
    os.execv(sys.argv[1], [sys.argv[1], "stuck"])
tid = int(os.read(ready[0], 20))
assert libc.ptrace(SEIZE, tid, None, TRACEEXIT) == 0, ctypes.get_errno()
os.write(go[1], b"x")
pid, status = os.waitpid(tid, WALL)
assert os.WIFSTOPPED(status), status
for _ in range(20):
    subprocess.run([sys.argv[1]], check=True)
os.kill(child, signal.SIGKILL)
libc.ptrace(CONT, tid, None, None)
os.waitpid(tid, WALL)
os.waitpid(child, 0)
print("released")
`;

test.if(process.getuid?.() === 0)(
  "a caller that hides its memory is denied, and told why",
  async () => {
    chmodSync(place.path, 0o777);
    const hide = `import ctypes, os
if os.fork() == 0:
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    try:
        os.execv("/bin/true", ["true"])
    except OSError as error:
        print(error.strerror, flush=True)
        os._exit(1)
os.wait()
os.execv("/bin/echo", ["echo", "seen"])`;
    const { words, auditPath } = place.faradayWords([PYTHON, "-c", hide], { policy });
    const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    const kept = await runCommand([...nobody, ...words], { cwd: place.path });
    expect(kept.stdout).toBe("Permission denied\nseen\n");
    expect(kept.stderr).toContain("hides its memory");
    const denials = readRecords(auditPath).filter(({ action }) => action === "deny");
    expect(denials.map(({ rule_id }) => rule_id)).toEqual(["builtin:unreadable"]);
  },
);
