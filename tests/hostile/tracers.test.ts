import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { Workplace } from "../kernel/faraday-run.ts";
import { allowBut, compile, compileMarker, exe } from "../kernel/test-programs.ts";

const place = new Workplace();
const marker = place.at("marker");
const denied = place.at("denied");
const allowed = place.at("allowed");
const tracer = place.at("tracer");
const policy = allowBut(exe(denied));

/**
 * `tracer WAY ALLOWED DENIED`: traces a child that execs ALLOWED, and rewrites the path in its
 * memory to DENIED when the call begins; or attaches to a child at any moment of its exec.
 */
const TRACER_SOURCE = `
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
static char *path;
static int run_child(int traced) {
  if (traced) { ptrace(PTRACE_TRACEME, 0, 0, 0); raise(SIGSTOP); }
  char *words[] = { "tool", NULL };
  execv(path, words);
  printf("%s\\n", strerrorname_np(errno));
  fflush(stdout);
  _exit(1);
}
static int follow(pid_t child, const char *swap) {
  int status;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (int stop = 0; stop < 1000; stop++) {
    if (ptrace(swap ? PTRACE_SYSCALL : PTRACE_CONT, child, 0, 0)) break;
    if (waitpid(child, &status, 0) < 0 || WIFEXITED(status) || WIFSIGNALED(status)) return 0;
    if (swap) strcpy(path, swap);
  }
  return 0;
}
static int attach_at_random(void) {
  for (int round = 0; round < 300; round++) {
    pid_t child = fork();
    if (child == 0) run_child(0);
    for (volatile int spin = rand() % 300000; spin > 0; spin--);
    int seized = ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_EXITKILL) == 0;
    int status;
    for (int stop = 0; stop < 100; stop++) {
      if (waitpid(child, &status, __WALL) != child) break;
      if (!WIFSTOPPED(status)) break;
      if (ptrace(PTRACE_CONT, child, 0, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status))) break;
    }
  }
  return 0;
}
int main(int argc, char **argv) {
  path = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  strcpy(path, argv[2]);
  if (strcmp(argv[1], "attach") == 0) return attach_at_random();
  pid_t child = fork();
  if (child == 0) run_child(1);
  return follow(child, strcmp(argv[1], "swap") == 0 ? argv[3] : NULL);
}`;

beforeAll(async () => {
  await compile(place, "tracer", TRACER_SOURCE);
  await compile(place, "allowed", `#include <stdio.h>\nint main(void) { puts("allowed ran"); }`);
  await compileMarker(place, "denied", marker);
});
afterAll(() => place[Symbol.dispose]());

describe("a tracer inside the sandbox", () => {
  test("cannot start a denied program in the place of a permitted one", async () => {
    expect((await place.bare([tracer, "swap", allowed, denied])).stdout).toBe("denied ran\n");
    rmSync(marker);
    const kept = await place.faraday([tracer, "swap", allowed, denied], { policy });
    expect(kept.exit).toBe(0);
    expect(kept.stdout).not.toContain("denied ran");
    expect(existsSync(marker)).toBe(false);
  });

  test("makes its child's execs impossible, which the record explains", async () => {
    expect((await place.bare([tracer, "plain", allowed])).stdout).toBe("allowed ran\n");
    const kept = await place.faraday([tracer, "plain", allowed], { policy });
    expect(kept.stdout).toBe("EACCES\n");
    expect(kept.records.find(({ action }) => action === "deny")).toMatchObject({
      rule_id: "builtin:traced",
      exe: allowed,
    });
  });

  test("that attaches at any moment of an exec changes no verdict and stops nothing", async () => {
    const kept = await place.faraday([tracer, "attach", denied], { policy });
    expect(kept.exit).toBe(0);
    expect(existsSync(marker)).toBe(false);
    const good = await place.faraday(["sh", "-c", `${tracer} attach ${allowed}; ${allowed}`], {
      policy,
    });
    expect(good.exit).toBe(0);
    expect(good.stdout).toEndWith("allowed ran\n");
  });
});
