/**
 * A program that starts another in a way that is hard to write in a shell: `caller WAY PROGRAM`.
 * If the exec fails it prints the name of the errno and exits with 1.
 */
export const EXEC_CALLER_SOURCE = `
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char *program, *words[] = { "tool", "word", NULL };

static int failed(void) {
  printf("%s\\n", strerrorname_np(errno));
  fflush(stdout);
  return 1;
}
static int wait_for(pid_t pid) {
  int status;
  if (pid < 0 || waitpid(pid, &status, __WALL) < 0) return failed();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
static int at(int dir, const char *path, int flags) {
  syscall(SYS_execveat, dir, path, words, environ, flags);
  return failed();
}
static void *from_thread(void *unused) {
  execv(program, words);
  _exit(failed());
}
static int child(void *unused) {
  execv(program, words);
  _exit(failed());
}
static int spawned(void) {
  pid_t pid;
  errno = posix_spawn(&pid, program, NULL, NULL, words, environ);
  return errno ? failed() : wait_for(pid);
}
static int threaded(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, from_thread, NULL);
  pthread_join(thread, NULL);
  return 9;
}
static int vforked(void) {
  pid_t pid = vfork();
  if (pid == 0) { execv(program, words); _exit(77); }
  return wait_for(pid);
}
static int cloned(int flags) {
  char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return wait_for(clone(child, stack + 65536, flags | SIGCHLD, NULL));
}
static int copied(int unlinked) {
  char name[] = "copy-XXXXXX", buffer[65536];
  int to = unlinked ? mkostemp(name, 0) : memfd_create("tool", MFD_CLOEXEC);
  int from = open(program, O_RDONLY);
  for (ssize_t got; (got = read(from, buffer, sizeof buffer)) > 0;) write(to, buffer, got);
  fchmod(to, 0755);
  if (unlinked) {
    int readable = open(name, O_RDONLY | O_CLOEXEC);
    close(to); unlink(name); to = readable;
  }
  return at(to, "", AT_EMPTY_PATH);
}
static int argument_of(size_t bytes) {
  char *word = malloc(bytes + 1);
  memset(word, 'a', bytes); word[bytes] = 0;
  char *large[] = { "tool", word, NULL };
  execv(program, large);
  return failed();
}
static int arguments(size_t count, size_t bytes) {
  char **many = calloc(count + 2, sizeof *many), *word = malloc(bytes + 1);
  memset(word, 'b', bytes); word[bytes] = 0;
  many[0] = "tool";
  for (size_t i = 1; i <= count; i++) many[i] = word;
  execv(program, many);
  return failed();
}
static void tick(int signal) {}
/* Starts the program over and over while a timer goes off every millisecond. */
static int under_timer(int signal, int flags) {
  struct sigaction action = { .sa_handler = tick, .sa_flags = flags };
  sigaction(signal, &action, NULL);
  struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal };
  struct itimerspec every = { { 0, 1000000 }, { 0, 1000000 } };
  for (int round = 0; round < 100; round++) {
    pid_t pid = fork();
    if (pid == 0) {
      timer_t timer;
      timer_create(CLOCK_MONOTONIC, &event, &timer);
      timer_settime(timer, 0, &every, NULL);
      /* A signal before the supervisor has seen the call ends it, unless it is to be restarted. */
      do execv(program, words); while (errno == EINTR && !(flags & SA_RESTART));
      _exit(failed());
    }
    int status, got;
    while ((got = waitpid(pid, &status, 0)) < 0 && errno == EINTR);
    if (got < 0 || status != 0) { printf("round %d: status %x\\n", round, status); return 1; }
  }
  return 0;
}
/* Callers that are killed at any moment of their exec. */
static int killed(void) {
  for (int round = 0; round < 300; round++) {
    pid_t pid = fork();
    if (pid == 0) { execv(program, words); _exit(1); }
    for (volatile int spin = rand() % 400000; spin > 0; spin--);
    kill(pid, SIGKILL);
    int status;
    if (waitpid(pid, &status, 0) != pid) return failed();
  }
  return 0;
}
static int by_argv(char **list) { syscall(SYS_execve, program, list, environ); return failed(); }

int main(int argc, char **argv) {
  const char *way = argv[1];
  program = argv[2];
  char *unmapped = (char *)0x10, *holes[] = { "tool", unmapped, NULL }, *none[] = { NULL };
  #define WAY(name, call) if (strcmp(way, name) == 0) return call;
  WAY("execve", (execv(program, words), failed()))
  WAY("dirfd", at(open(dirname(strdup(program)), O_PATH), basename(strdup(program)), 0))
  WAY("dirfd-cwd", (chdir(dirname(strdup(program))), at(AT_FDCWD, basename(strdup(program)), 0)))
  WAY("empty-path", at(open(program, O_PATH | O_CLOEXEC), "", AT_EMPTY_PATH))
  WAY("empty-path-open", at(open(program, O_RDONLY), "", AT_EMPTY_PATH))
  WAY("high-proc-fd", (dup2(open(program, 0), 200), execv("/proc/self/fd/200", words), failed()))
  WAY("high-dev-fd", (dup2(open(program, 0), 200), execv("/dev/fd/200", words), failed()))
  WAY("nofollow", at(AT_FDCWD, program, AT_SYMLINK_NOFOLLOW))
  WAY("empty-path-no-flag", at(open(program, O_PATH), "", 0))
  WAY("bad-dirfd", at(777, "tool", 0))
  WAY("bad-flags", at(AT_FDCWD, program, 0x40))
  WAY("check-only", (syscall(SYS_execveat, AT_FDCWD, program, words, environ, 0x10000), failed()))
  WAY("thread", threaded())
  WAY("vfork", vforked())
  WAY("clone-vm", cloned(CLONE_VM))
  WAY("clone-vm-vfork", cloned(CLONE_VM | CLONE_VFORK))
  WAY("clone-files", cloned(CLONE_FILES))
  WAY("posix-spawn", spawned())
  WAY("memfd", copied(0))
  WAY("deleted", copied(1))
  WAY("null-argv", by_argv(NULL))
  WAY("empty-argv", by_argv(none))
  WAY("unmapped-argv", by_argv((char **)unmapped))
  WAY("unmapped-argument", by_argv(holes))
  WAY("unmapped-path", (program = unmapped, by_argv(words)))
  WAY("null-path", (program = NULL, by_argv(words)))
  WAY("empty-string", (program = "", by_argv(words)))
  WAY("argument-max", argument_of(131071))
  WAY("argument-too-long", argument_of(131072))
  WAY("two-mebibytes", arguments(16, 130000))
  WAY("too-many-bytes", arguments(100, 130000))
  WAY("ten-thousand", arguments(10000, 10))
  WAY("timer-restart", under_timer(SIGALRM, SA_RESTART))
  WAY("timer-no-restart", under_timer(SIGALRM, 0))
  WAY("timer-urgent", under_timer(SIGURG, SA_RESTART | SA_ONSTACK))
  WAY("killed", killed())
  return 99;
}
`;
