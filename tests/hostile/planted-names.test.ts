import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { Workplace } from "../kernel/faraday-run.ts";
import { compile, compileMarker, denyBut, exe, script } from "../kernel/test-programs.ts";

const place = new Workplace();
const marker = place.at("own/marker");
const own = place.at("own");

/** Shells and a tool by the last part of their names; the agent may write in `own` alone. */
const policy = `${denyBut('exe_basename = ["sh", "dash", "bash", "tool"]')}
[filesystem]
read_globs = ["/"]
allow_globs = ["${own}"]
`;

beforeAll(async () => {
  mkdirSync(own);
  await compileMarker(place, "tool", marker);
  copyFileSync(place.at("tool"), place.at("own/tool"));
  script(place, "own/sh", "#!/proc/self/cwd/tool\n");
  symlinkSync(own, place.at("link"));
  mkdirSync(place.at("bin"));
  symlinkSync(place.at("own/tool"), place.at("bin/tool"));
  symlinkSync(place.at("tool"), place.at("bin/sh"));
});
afterAll(() => place[Symbol.dispose]());

const run = async (command: string) => {
  rmSync(marker, { force: true });
  const words = ["/bin/sh", "-c", command];
  const bare = await place.bare(words, { cwd: own });
  const ranBare = existsSync(marker);
  rmSync(marker, { force: true });
  const kept = await place.faraday(words, { cwd: own, policy });
  return { ranBare, bare, kept, ran: existsSync(marker) };
};

test.each([
  ["its own path", "./tool"],
  ["/proc/self/cwd", "/proc/self/cwd/tool"],
  ["/proc/self/root", `/proc/self/root${own}/tool`],
  ["/proc/thread-self", "/proc/thread-self/cwd/tool"],
  ["the directory of another process", "/proc/$PPID/cwd/tool; /proc/$$/cwd/tool"],
  ["a descriptor of its directory", "exec 5<.; /proc/self/fd/5/tool"],
  ["a descriptor by its other name", "exec 5<.; /dev/fd/5/tool"],
  ["a link to its directory", `${place.at("link")}/tool`],
  ["a link to itself", `${place.at("bin/tool")}`],
  ["an interpreter", "/proc/self/cwd/sh"],
])("a planted program does not pass by its last name through %s", async (_, command) => {
  const { ranBare, kept, ran } = await run(command);
  expect([ranBare, ran]).toEqual([true, false]);
  expect(kept.stderr).toContain("Permission denied");
});

test.each([
  ["its own path", place.at("tool")],
  ["a link that is not the agent's", `${place.at("bin/sh")}`],
  ["/proc/self/cwd", `cd ${place.path} && /proc/self/cwd/tool`],
])("a program that is not planted passes by its last name through %s", async (_, command) => {
  const { kept, ran } = await run(command);
  expect([ran, kept.exit]).toEqual([true, 0]);
});

/** Starts a path over and over while a directory, or a descriptor on its way, is exchanged. */
const RACE = `#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define SHARED 77
static int here, there;
static void *swap(void *unused) {
  for (;;) { dup2(here, SHARED); dup2(there, SHARED); }
}
static int attempt(const char *how, const char *path) {
  pid_t child = fork();
  if (child == 0) {
    char *argv[] = {"true", NULL}, *none[] = {NULL};
    if (how[0] == 'd') syscall(SYS_execve, path, argv, none);
    pthread_t thread;
    pthread_create(&thread, NULL, swap, NULL);
    for (int i = 0; i < 20; i++) syscall(SYS_execveat, SHARED, "true", argv, none, 0);
    _exit(99);
  }
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
int main(int argc, char **argv) {
  char deep[500], high[500], path[2100], bin[500];
  snprintf(deep, 500, "%s/a/b/c", argv[2]);
  snprintf(high, 500, "%s/c", argv[2]);
  snprintf(bin, 500, "%s/usr/bin", argv[2]);
  here = open(bin, O_PATH);
  there = open("/usr/bin", O_PATH);
  dup2(there, SHARED);
  pid_t mover = fork();
  if (mover == 0) for (;;) { rename(deep, high); rename(high, deep); usleep(50); }
  strcpy(path, deep);
  while (strlen(path) < 1900) strcat(path, "/x/..");
  strcat(path, "/../../..");
  strcat(path, "/usr/bin/true");
  int good = 0, bad = 0;
  for (time_t end = time(NULL) + 5; time(NULL) < end && bad == 0;) {
    int status = attempt(argv[1], path);
    good += status == 0;
    bad += status == 42;
  }
  kill(mover, 9);
  printf("%s, %s\\n", bad ? "planted" : "held", good ? "good" : "none");
}`;

test.each(["directory", "fd"])(
  "nor while a %s on its way is exchanged",
  async (how) => {
    const racer = await compile(place, "racer", RACE, ["-pthread"]);
    // Three steps up from a/b/c is the tree itself; from c they lead to the root of the disk.
    const tree = mkdtempSync("/tmp/faraday-race-");
    for (const name of ["a/b/c/x", "usr/bin"]) mkdirSync(`${tree}/${name}`, { recursive: true });
    const planted = await compile(place, "planted", "int main(void) { return 42; }");
    copyFileSync(planted, `${tree}/usr/bin/true`);
    const rules = `${denyBut(exe("/usr/bin/true", racer))}
[filesystem]
read_globs = ["/"]
allow_globs = ["${tree}"]
`;
    const kept = await place.faraday([racer, how, tree], { policy: rules });
    rmSync(tree, { recursive: true, force: true });
    expect(kept.stdout).toBe("held, good\n");
  },
  60_000,
);
