/**
 * A program that execs in a loop while something it depends on is flipped between a permitted and
 * a denied value: `race MODE ROUNDS GOOD BAD [NAME [PROGRAM]]`. Memory, links and files are flipped
 * by a process of its own; directory and descriptors by a thread of each caller.
 */
export const EXEC_RACE_SOURCE = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *mode, *good, *bad, *name;
static char *shared;
static int good_fd, bad_fd;
static atomic_int flipping;

static int is(const char *word) { return strcmp(mode, word) == 0; }

static void place_link(const char *target) {
  char temporary[4200];
  snprintf(temporary, sizeof temporary, "%s.new", name);
  unlink(temporary);
  if (symlink(target, temporary) || rename(temporary, name)) _exit(9);
}

static void flip_from_outside(void) {
  size_t good_size = strlen(good) + 1, bad_size = strlen(bad) + 1;
  for (unsigned turn = 0;; turn++) {
    int odd = turn & 1;
    if (is("path") || is("argv")) {
      if (odd) memcpy(shared, bad, bad_size); else memcpy(shared, good, good_size);
      for (volatile int spin = rand() % 20000; spin > 0; spin--);
    } else if (is("symlink")) {
      place_link(odd ? bad : good);
    } else if (is("exchange")) {
      syscall(SYS_renameat2, AT_FDCWD, good, AT_FDCWD, bad, 2);
      for (volatile int spin = rand() % 30000; spin > 0; spin--);
    }
  }
}

static void *flip_from_inside(void *unused) {
  for (unsigned turn = 0;; turn++) {
    int odd = turn & 1;
    if (is("cwd")) { if (chdir(odd ? bad : good)) _exit(9); }
    else dup2(odd ? bad_fd : good_fd, 100);
    flipping = 1;
  }
}

static void exec_once(const char *program) {
  char *plain[] = { "tool", NULL };
  char *flipped[] = { "tool", shared, NULL };
  if (is("path")) execv(shared, plain);
  else if (is("argv")) execv(program, flipped);
  else if (is("symlink")) execv(program, plain);
  else if (is("exchange")) execv(good, plain);
  else if (is("cwd")) execv(name, plain);
  else if (is("fd")) syscall(SYS_execveat, 100, "", plain, environ, 0x1000);
  else if (is("procfd")) execv("/proc/self/fd/100", plain);
  _exit(1);
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  mode = argv[1]; good = argv[3]; bad = argv[4];
  name = argc > 5 ? argv[5] : "";
  const char *program = argc > 6 ? argv[6] : name;
  int rounds = atoi(argv[2]);
  int inside = is("cwd") || is("fd") || is("procfd");
  shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  strcpy(shared, good);
  struct stat first;
  stat(good, &first);
  if (is("symlink")) place_link(good);
  good_fd = open(good, O_PATH); bad_fd = open(bad, O_PATH);
  if (inside && !is("cwd")) dup2(good_fd, 100);
  pid_t flipper = inside ? 0 : fork();
  if (!inside && flipper == 0) { prctl(PR_SET_PDEATHSIG, SIGKILL); flip_from_outside(); }
  for (int round = 0; round < rounds; round++) {
    pid_t child = fork();
    if (child == 0) {
      pthread_t thread;
      if (inside && pthread_create(&thread, NULL, flip_from_inside, NULL)) _exit(8);
      while (inside && !flipping);
      for (volatile int spin = rand() % 50000 + round; inside && spin > 0; spin--);
      exec_once(program);
    }
    waitpid(child, NULL, 0);
  }
  if (flipper > 0) { kill(flipper, SIGKILL); waitpid(flipper, NULL, 0); }
  /* The names go back to the files that had them, for whoever judges by them next. */
  struct stat last;
  if (is("exchange") && stat(good, &last) == 0 && last.st_ino != first.st_ino)
    syscall(SYS_renameat2, AT_FDCWD, good, AT_FDCWD, bad, 2);
  return 0;
}
`;
