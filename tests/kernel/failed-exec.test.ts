import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Workplace } from "./faraday-run.ts";
import { allowBut, compile, exe, script } from "./test-programs.ts";

const place = new Workplace();
const failing = place.at("failing");
const empty = place.at("empty");
const policy = allowBut(exe("/nonexistent/denied"));

/**
 * An exec that the policy allows and the kernel then refuses leaves its caller attached for a
 * moment. `failing WAY EMPTY` looks whether the caller notices.
 */
const FAILING_SOURCE = `
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int got;
static void note(int signal) { got = signal; }
static char *empty, *words[] = { "x", NULL };
static int is_special(int n) { return n == SIGKILL || n == SIGSTOP || n == 32 || n == 33; }
static int signals(void) {
  for (int n = 1; n <= 64; n++) if (!is_special(n)) signal(n, note);
  for (int round = 0; round < 5; round++) {
    for (int n = 1; n <= 64; n++) {
      if (is_special(n)) continue;
      got = 0;
      execv(empty, words);
      raise(n);
      if (got != n) printf("signal %d is lost\\n", n);
    }
  }
  return 0;
}
static int status_of(void (*act)(void), int options) {
  pid_t child = fork();
  int status = -1;
  if (child == 0) { execv(empty, words); act(); _exit(5); }
  waitpid(child, &status, options);
  if (WIFSTOPPED(status)) { kill(child, SIGCONT); waitpid(child, &status, 0); }
  return status;
}
static void trap(void) { __builtin_trap(); }
static void breakpoint(void) {
#ifdef __x86_64__
  __asm__("int3");
#else
  __asm__("brk 0");
#endif
}
static void stop(void) { raise(SIGSTOP); }
static void leave(void) { _exit(7); }
static int ends(void) {
  for (int round = 0; round < 10; round++) {
    printf("%x %x %x %x\\n", status_of(trap, 0) & 0x7f, status_of(breakpoint, 0) & 0x7f,
           status_of(stop, WUNTRACED), status_of(leave, 0));
  }
  return 0;
}
static int often(void) {
  int noexec = 0;
  for (int round = 0; round < 2000; round++) { execv(empty, words); noexec += errno == ENOEXEC; }
  printf("%d\\n", noexec);
  return 0;
}
int main(int argc, char **argv) {
  empty = argv[2];
  if (strcmp(argv[1], "signals") == 0) return signals();
  if (strcmp(argv[1], "ends") == 0) return ends();
  return often();
}`;

beforeAll(async () => {
  await compile(place, "failing", FAILING_SOURCE);
  script(place, "empty", "");
});
afterAll(() => place[Symbol.dispose]());

describe("after an exec that failed its caller goes on as without Faraday", () => {
  test.each(["signals", "ends", "often"])("%s", async (way) => {
    const bare = await place.bare([failing, way, empty]);
    const kept = await place.faraday([failing, way, empty], { policy });
    expect([kept.stdout, kept.exit, kept.stderr]).toEqual([bare.stdout, bare.exit, ""]);
  });
});
