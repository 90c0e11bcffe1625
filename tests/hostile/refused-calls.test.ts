import { afterAll, describe, expect, test } from "bun:test";
import { Workplace } from "../kernel/faraday-run.ts";
import { compile, isX64, PYTHON } from "../kernel/test-programs.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

/** Numbers that x86_64 and aarch64 do not share; the rest came after they agreed. */
const NUMBERS: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  add_key: [248, 217],
  adjtimex: [159, 171],
  bpf: [321, 280],
  chroot: [161, 51],
  clone3: [435, 435],
  finit_module: [313, 273],
  fsopen: [430, 430],
  io_uring_setup: [425, 425],
  ioctl: [16, 29],
  keyctl: [250, 219],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  perf_event_open: [298, 241],
  pivot_root: [155, 41],
  prctl: [157, 167],
  request_key: [249, 218],
  seccomp: [317, 277],
  setns: [308, 268],
  swapoff: [168, 225],
  umount2: [166, 39],
  unshare: [272, 97],
  userfaultfd: [323, 282],
};

/** Makes one call and prints the name of its errno, or OK. A string is a pointer to it. */
const CALL = `
import ctypes, errno, json, sys
libc = ctypes.CDLL(None, use_errno=True)
number, *words = json.loads(sys.argv[1])
buffers = [ctypes.create_string_buffer(w.encode(), 256) if isinstance(w, str) else w for w in words]
libc.syscall.restype = ctypes.c_long
args = [ctypes.c_long(w) if isinstance(w, int) else w for w in buffers]
result = libc.syscall(ctypes.c_long(number), *args)
print("OK" if result >= 0 else errno.errorcode[ctypes.get_errno()])
`;

const HIGH = 2 ** 32;
const NEW_LISTENER = 8;
const TIOCSTI = 0x5412;
const CLONE_NEWUSER = 0x10000000;
const CLONE_NEWNS = 0x20000;

type Call = readonly [name: string, refusal: string, ...words: readonly (number | string)[]];

async function answer([name, , ...words]: Call, kept: boolean): Promise<string> {
  const number = NUMBERS[name]?.[isX64 ? 0 : 1] ?? -1;
  const command = [PYTHON, "-c", CALL, JSON.stringify([number, ...words])];
  const run = kept ? await place.faraday(command) : await place.bare(command);
  return run.stdout.trim();
}

describe("calls that would undo the gate are refused", () => {
  test.each<Call>([
    ["seccomp", "EPERM", 1, NEW_LISTENER, 0],
    ["seccomp", "EPERM", 1, NEW_LISTENER | 0x20, 0],
    ["seccomp", "EPERM", HIGH + 1, HIGH + NEW_LISTENER, 0],
    ["clone3", "ENOSYS", 0, 0],
    ["unshare", "EPERM", CLONE_NEWUSER],
    ["unshare", "EPERM", CLONE_NEWNS],
    ["unshare", "EPERM", HIGH + CLONE_NEWNS],
    ["unshare", "EPERM", 0x80],
    ["setns", "EPERM", 0, 0],
    ["mount", "EPERM", "none", "/", "tmpfs", 0, 0],
    ["umount2", "EPERM", "/nonexistent", 0],
    ["pivot_root", "EPERM", "/", "/"],
    ["chroot", "EPERM", "/"],
    ["open_tree", "EPERM", -100, "/", 0],
    ["move_mount", "EPERM", -1, "", -1, "", 0],
    ["fsopen", "EPERM", "tmpfs", 0],
    ["mount_setattr", "EPERM", -100, "/", 0, 0, 0],
    ["open_by_handle_at", "EPERM", 0, 0, 0],
    ["io_uring_setup", "ENOSYS", 8, ""],
    ["bpf", "EPERM", 0, 0, 0],
    ["userfaultfd", "EPERM", 0],
    ["perf_event_open", "EPERM", 0, 0, 0, 0, 0],
    ["keyctl", "EPERM", 0, 0],
    ["add_key", "EPERM", "user", "x", 0, 0, 0],
    ["request_key", "EPERM", "user", "x", 0, 0],
    ["finit_module", "EPERM", -1, "", 0],
    ["swapoff", "EPERM", "/nonexistent"],
    ["prctl", "EPERM", 35, 8, 0, 0, 0],
    ["prctl", "EPERM", HIGH + 35, 8, 0, 0, 0],
    ["ioctl", "EPERM", 0, TIOCSTI, "x"],
    ["ioctl", "EPERM", 0, HIGH + TIOCSTI, "x"],
    ["ioctl", "EPERM", 0, 0x541c, "\u0003"],
    ["ioctl", "EPERM", 0, 0xaa00, ""],
    // A tick of no length, which somebody who may set the clock is told is wrong.
    ["adjtimex", "EPERM", "\0@"],
  ])("%s: %s", async (...call) => {
    expect(await answer(call, true)).toBe(call[1]);
  });

  test.each<Call>([
    ["unshare", "OK", 0x400],
    ["unshare", "OK", 0x200],
    ["prctl", "OK", 15, "name", 0, 0, 0],
    ["seccomp", "EFAULT", 1, 0, 0],
    ["ioctl", "ENOTTY", 0, 0x5413, ""],
  ])("%s for another purpose is answered as without Faraday: %s", async (...call) => {
    expect(await answer(call, true)).toBe(await answer(call, false));
    expect(await answer(call, true)).toBe(call[1]);
  });
});

/** Starts a child with raw clone flags; 0 is success. */
const CLONE_SOURCE = `
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
static int child(void *unused) { return 0; }
int main(int argc, char **argv) {
  static char stack[65536] __attribute__((aligned(16)));
  int pid = clone(child, stack + sizeof stack, strtol(argv[1], 0, 16) | SIGCHLD, 0);
  if (pid < 0) return errno;
  waitpid(pid, 0, 0);
  return 0;
}`;

describe("clone", () => {
  const EPERM = 1;
  test.each([
    { flags: "0", exit: 0, because: "a fork" },
    { flags: "100", exit: 0, because: "shared memory is what vfork does" },
    { flags: "400", exit: 0, because: "shared descriptors are looked at again after the exec" },
    { flags: "200", exit: EPERM, because: "a shared directory could move under an exec" },
    { flags: "300", exit: EPERM, because: "a shared directory, whatever else is shared" },
    { flags: "10000000", exit: EPERM, because: "a user namespace" },
    { flags: "20000", exit: EPERM, because: "a mount namespace" },
    { flags: "20000000", exit: EPERM, because: "a pid namespace" },
    { flags: "40000000", exit: EPERM, because: "a network namespace" },
  ])("with 0x$flags ends with $exit: $because", async ({ flags, exit }) => {
    const program = await compile(place, "clone", CLONE_SOURCE);
    expect((await place.faraday([program, flags])).exit).toBe(exit);
  });
});
