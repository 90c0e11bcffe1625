import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Workplace } from "./faraday-run.ts";
import { allowBut, compile, exe } from "./test-programs.ts";

const place = new Workplace();
const policy = allowBut(exe("/nonexistent/denied"));
const ROUNDS = 150;

/** Says on how many processors it may run, and so does a child that no tracer is told of. */
const COUNTING = `#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void count(const char *who) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  printf("%s %d\\n", who, CPU_COUNT(&set));
  fflush(stdout);
}
static void count_twice(void) {
  count("self");
  pid_t child = syscall(SYS_clone, SIGCHLD | CLONE_UNTRACED, 0, 0, 0, 0);
  count(child == 0 ? "child" : "parent");
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
}`;

beforeAll(async () => {
  await compile(place, "counter", `${COUNTING}\nint main(void) { count_twice(); }`, ["-static"]);
  // argv: what to do besides, the program, how often, the number of processors.
  const starter = `${COUNTING}
static void narrow(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  sched_setaffinity(0, sizeof one, &one);
}
int main(int argc, char **argv) {
  for (int round = 0; round < atoi(argv[3]); round++) {
    pid_t child = fork();
    if (child == 0) {
      if (strcmp(argv[1], "before") == 0) narrow(round % atoi(argv[4]));
      execl(argv[2], argv[2], NULL);
      if (strcmp(argv[1], "after") == 0) narrow(round % atoi(argv[4]));
      if (strcmp(argv[1], "after") == 0) usleep(20000);
      count_twice();
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
}`;
  await compile(place, "starter", starter);
  const slow = `${COUNTING}
static void *start(void *path) { execl(path, path, NULL); return NULL; }
int main(int argc, char **argv) {
  // To give so much memory back takes the kernel its time, in the midst of the exec.
  size_t size = (size_t)800 << 20;
  char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, size, MADV_NOHUGEPAGE);
  memset(memory, 1, size);
  pthread_t thread;
  pthread_create(&thread, NULL, start, argv[1]);
  pause();
}`;
  await compile(place, "slow", slow, ["-pthread"]);
  place.write("broken", "\x7fELF but nothing more", 0o755);
});
afterAll(() => place[Symbol.dispose]());

describe("a program may run on the processors that it could run on without Faraday", () => {
  test.each([
    { chosen: "never", program: "counter", because: "it is not kept where it started" },
    { chosen: "never", program: "broken", because: "nor is a caller whose exec failed" },
    { chosen: "before", program: "counter", because: "a choice of its own stands" },
    { chosen: "before", program: "broken", because: "even where the exec fails" },
    { chosen: "after", program: "broken", because: "and where it is made just after that" },
  ])("$program, $chosen chosen: $because", async ({ chosen, program }) => {
    const cpus = String(availableParallelism());
    const rounds = chosen === "after" ? ROUNDS / 5 : ROUNDS;
    const command = [place.at("starter"), chosen, place.at(program), String(rounds), cpus];
    const bare = await place.bare(command);
    const kept = await place.faraday(command, { policy });
    expect(bare.stdout.split("\n")).toHaveLength(rounds * 3 + 1);
    const sorted = (text: string): readonly string[] => text.split("\n").toSorted();
    expect(sorted(kept.stdout)).toEqual(sorted(bare.stdout));
    expect(kept.records.at(-1)?.counts?.mismatch).toBe(0);
  });

  test("an exec of a thread that takes long ends in a program that is not kept", async () => {
    const command = [place.at("slow"), place.at("counter")];
    const bare = await place.bare(command);
    const kept = await place.faraday(command, { policy });
    expect(bare.stdout).toContain("self");
    expect(kept.stdout.split("\n").toSorted()).toEqual(bare.stdout.split("\n").toSorted());
  });
});

/** The processors that each thread of a process may run on. */
function processorsOf(pid: number | "self"): readonly string[] {
  return readdirSync(`/proc/${pid}/task`).map((tid) => {
    const status = readFileSync(`/proc/${pid}/task/${tid}/status`, "latin1");
    return /^Cpus_allowed_list:\t(.*)$/m.exec(status)?.[1] ?? "";
  });
}

test("who judges stays where programs start, and is free again when none do", async () => {
  const command = [
    "bash",
    "-c",
    "for ((i = 0; i < 100; i++)); do /bin/true; done; echo done; read",
  ];
  const { words } = place.faradayWords(command, { policy });
  const run = Bun.spawn([...words], { stdin: "pipe", stdout: "pipe", stderr: "ignore" });
  const { value } = await run.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("done\n");
  const all = processorsOf("self");
  const isFree = (): boolean => processorsOf(run.pid).every((each) => all.includes(each));
  for (let look = 0; look < 500 && !isFree(); look++) await Bun.sleep(10);
  expect(processorsOf(run.pid)).toEqual(processorsOf(run.pid).map(() => all[0] ?? ""));
  run.stdin.end();
  // `read` fails at the end of its input, as it does without Faraday.
  expect(await run.exited).toBe(1);
});
