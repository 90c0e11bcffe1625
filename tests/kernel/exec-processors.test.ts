import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { Workplace } from "./faraday-run.ts";
import { allowBut, compile, exe } from "./test-programs.ts";

const place = new Workplace();
const policy = allowBut(exe("/nonexistent/denied"));
const ROUNDS = 150;

/** Says on how many processors it may run, and so does a child that it forks before all else. */
const COUNTING = `#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void count(const char *who) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  printf("%s %d\\n", who, CPU_COUNT(&set));
  fflush(stdout);
}
static void count_twice(void) {
  pid_t child = fork();
  count(child == 0 ? "child" : "parent");
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
}`;

beforeAll(async () => {
  await compile(place, "counter", `${COUNTING}\nint main(void) { count_twice(); }`, ["-static"]);
  // argv: what to do first, the program, how often.
  const starter = `${COUNTING}
int main(int argc, char **argv) {
  for (int round = 0; round < atoi(argv[3]); round++) {
    pid_t child = fork();
    if (child == 0) {
      if (strcmp(argv[1], "narrow") == 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(round % atoi(argv[4]), &one);
        sched_setaffinity(0, sizeof one, &one);
      }
      execl(argv[2], argv[2], NULL);
      count_twice();
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
}`;
  await compile(place, "starter", starter);
  place.write("broken", "\x7fELF but nothing more", 0o755);
});
afterAll(() => place[Symbol.dispose]());

describe("a program may run on the processors that it could run on without Faraday", () => {
  test.each([
    { first: "plain", program: "counter", because: "it is not held to the one where it started" },
    { first: "plain", program: "broken", because: "nor is a caller whose exec failed" },
    { first: "narrow", program: "counter", because: "a choice of its own stands" },
    { first: "narrow", program: "broken", because: "even where the exec fails" },
  ])("$first, $program: $because", async ({ first, program }) => {
    const cpus = String(availableParallelism());
    const command = [place.at("starter"), first, place.at(program), String(ROUNDS), cpus];
    const bare = await place.bare(command);
    const kept = await place.faraday(command, { policy });
    expect(bare.stdout.split("\n")).toHaveLength(ROUNDS * 2 + 1);
    const sorted = (text: string): readonly string[] => text.split("\n").toSorted();
    expect(sorted(kept.stdout)).toEqual(sorted(bare.stdout));
    expect(kept.records.at(-1)?.counts?.mismatch).toBe(0);
  });
});
