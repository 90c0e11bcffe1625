import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AUDIT_ARCH, archOf } from "../../ffi/abi/arch.ts";
import { Errno } from "../../ffi/abi/errno.ts";
import { REPOSITORY } from "../../scripts/source-files.ts";
import { execFilter } from "../../src/plan/exec-filter.ts";
import { SEAL_KINDS, type SealKind, sealFilter } from "../../src/plan/file-filter.ts";
import { networkFilter } from "../../src/plan/network-filter.ts";
import { runFilter } from "./bpf-machine.ts";

const arch = archOf(process.arch);
/** libseccomp is on Linux only. */
const CAN_COMPILE = process.platform === "linux" && arch !== null;

const ALLOW = 0x7fff0000;
const NOTIFY = 0x7fc00000;
const EPERM = 0x00050000 | Errno.EPERM;
const ENOSYS = 0x00050000 | Errno.ENOSYS;
const NAMES = new Map([
  [ALLOW, "ALLOW"],
  [NOTIFY, "NOTIFY"],
  [EPERM, "EPERM"],
  [ENOSYS, "ENOSYS"],
]);

/** The numbers of the calls below: x86_64, aarch64. tests/abi compares those that Faraday makes. */
const CALLS: Readonly<Record<string, readonly [number, number]>> = {
  read: [0, 63],
  openat: [257, 56],
  ptrace: [101, 117],
  kill: [62, 129],
  execve: [59, 221],
  execveat: [322, 281],
  clone: [56, 220],
  clone3: [435, 435],
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_by_handle_at: [304, 265],
  seccomp: [317, 277],
  prctl: [157, 167],
  ioctl: [16, 29],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  perf_event_open: [298, 241],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  keyctl: [250, 219],
  prlimit64: [302, 261],
  sched_setaffinity: [203, 122],
  sched_setscheduler: [144, 119],
  setpriority: [141, 140],
  ioprio_set: [251, 30],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
};

const numberOf = (call: string): number => {
  const numbers = CALLS[call];
  if (numbers === undefined) throw new Error(`no number for ${call}`);
  return numbers[arch === "aarch64" ? 1 : 0];
};

type FilterFile = Readonly<Record<"arch" | "filter" | SealKind | `${SealKind}-pinned`, string>>;
const built = (): FilterFile =>
  JSON.parse(readFileSync(join(REPOSITORY, "build/exec-filter.json"), "utf8"));

function verdict(call: string, args: readonly (number | bigint)[] = []): string {
  const answer = runFilter(Buffer.from(built().filter, "base64"), {
    number: numberOf(call),
    arch: AUDIT_ARCH[arch ?? "x86_64"],
    args: args.map(BigInt),
  });
  return NAMES.get(answer) ?? `0x${answer.toString(16)}`;
}

/** Bits above the 32 that the kernel looks at in an int argument. */
const garbage = (low: number): bigint => 0xdead_beef_0000_0000n | BigInt(low);

const CLONE_VM = 0x100;
const CLONE_FS = 0x200;
const CLONE_FILES = 0x400;
const CLONE_SIGHAND = 0x800;
const CLONE_VFORK = 0x4000;
const CLONE_PARENT = 0x8000;
const CLONE_THREAD = 0x10000;
const SIGCHLD = 17;
const THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
const NAMESPACES = {
  CLONE_NEWNS: 0x20000,
  CLONE_NEWCGROUP: 0x2000000,
  CLONE_NEWUTS: 0x4000000,
  CLONE_NEWIPC: 0x8000000,
  CLONE_NEWUSER: 0x10000000,
  CLONE_NEWPID: 0x20000000,
  CLONE_NEWNET: 0x40000000,
} as const;
const CLONE_NEWTIME = 0x80;

const NEW_LISTENER = 8;
const TSYNC = 1;
const PR_SET_NAME = 15;
const PR_SET_MM = 35;
const PR_SET_CHILD_SUBREAPER = 36;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const TIOCGWINSZ = 0x5413;
const SOME_PID = 4711;
const SOME_ADDRESS = 0x7fff_1234_5678n;

describe.skipIf(!CAN_COMPILE)("the filter of the exec gate", () => {
  test("in build/ is what libseccomp makes of the rules", async () => {
    const { compileFilter } = await import("../../ffi/calls/libseccomp.ts");
    const { arch: builtFor, filter } = built();
    expect<string | null>(builtFor).toBe(arch);
    expect(filter).toBe(compileFilter(execFilter()).toString("base64"));
    for (const kind of SEAL_KINDS) {
      const rules = [...execFilter(), ...sealFilter(kind)];
      const open = compileFilter([...rules, ...networkFilter("unix")]).toString("base64");
      const pinned = compileFilter([...rules, ...networkFilter("pin")]).toString("base64");
      expect(built()[kind]).toBe(open);
      expect(built()[`${kind}-pinned`]).toBe(pinned);
    }
  });

  test.each([
    { call: "execve", want: "NOTIFY" },
    { call: "execveat", want: "NOTIFY" },
    { call: "read", want: "ALLOW" },
    { call: "openat", want: "ALLOW" },
    { call: "kill", want: "ALLOW" },
    { call: "clone3", want: "ENOSYS" },
    { call: "io_uring_setup", want: "ENOSYS" },
    { call: "io_uring_enter", want: "ENOSYS" },
    { call: "io_uring_register", want: "ENOSYS" },
    { call: "setns", want: "EPERM" },
    { call: "mount", want: "EPERM" },
    { call: "umount2", want: "EPERM" },
    { call: "pivot_root", want: "EPERM" },
    { call: "chroot", want: "EPERM" },
    { call: "open_by_handle_at", want: "EPERM" },
    { call: "bpf", want: "EPERM" },
    { call: "userfaultfd", want: "EPERM" },
    { call: "perf_event_open", want: "EPERM" },
    { call: "keyctl", want: "EPERM" },
  ])("$call is answered with $want, whatever its arguments", ({ call, want }) => {
    expect(verdict(call)).toBe(want);
    expect(verdict(call, Array<bigint>(6).fill(0xffff_ffff_ffff_ffffn))).toBe(want);
  });

  test.each([
    { flags: SIGCHLD, want: "ALLOW", because: "a fork" },
    { flags: CLONE_VM | CLONE_VFORK | SIGCHLD, want: "ALLOW", because: "a vfork" },
    { flags: THREAD, want: "ALLOW", because: "a thread" },
    { flags: CLONE_FS | CLONE_THREAD, want: "ALLOW", because: "a thread shares the directory" },
    { flags: CLONE_FS, want: "EPERM", because: "a process that shares the directory" },
    { flags: CLONE_FS | CLONE_VM | SIGCHLD, want: "EPERM", because: "the same with shared memory" },
    { flags: CLONE_PARENT | SIGCHLD, want: "EPERM", because: "a child of somebody else's" },
    { flags: CLONE_PARENT | THREAD, want: "ALLOW", because: "a thread has its process's parent" },
    { flags: CLONE_FILES | SIGCHLD, want: "ALLOW", because: "shared descriptors are verified" },
    { flags: CLONE_NEWTIME, want: "ALLOW", because: "0x80 is part of the exit signal here" },
  ])("clone($flags) is answered with $want: $because", ({ flags, want }) => {
    expect(verdict("clone", [flags])).toBe(want);
    expect(verdict("clone", [garbage(flags)])).toBe(want);
  });

  test.each(Object.entries(NAMESPACES))("%s is refused to clone and unshare", (_, flag) => {
    for (const also of [0, SIGCHLD, THREAD]) {
      expect(verdict("clone", [flag | also])).toBe("EPERM");
      expect(verdict("unshare", [flag | also])).toBe("EPERM");
      expect(verdict("unshare", [garbage(flag | also)])).toBe("EPERM");
    }
  });

  test.each([
    { args: [CLONE_NEWTIME], want: "EPERM", because: "a time namespace" },
    { args: [CLONE_FS | CLONE_FILES], want: "ALLOW", because: "it parts with what it shared" },
  ])("unshare($args) is answered with $want: $because", ({ args, want }) => {
    expect(verdict("unshare", args)).toBe(want);
  });

  test.each([
    { call: "seccomp", args: [1, NEW_LISTENER], want: "EPERM", because: "a listener" },
    { call: "seccomp", args: [1, NEW_LISTENER | TSYNC], want: "EPERM", because: "with more flags" },
    { call: "seccomp", args: [garbage(1), NEW_LISTENER], want: "EPERM", because: "high half" },
    { call: "seccomp", args: [1, 0], want: "ALLOW", because: "a filter of its own" },
    { call: "seccomp", args: [1, TSYNC], want: "ALLOW", because: "the same for all threads" },
    { call: "seccomp", args: [2, NEW_LISTENER], want: "ALLOW", because: "another operation" },
    { call: "prctl", args: [PR_SET_MM], want: "EPERM", because: "it moves argv" },
    { call: "prctl", args: [garbage(PR_SET_MM)], want: "EPERM", because: "high half" },
    { call: "prctl", args: [PR_SET_NAME], want: "ALLOW", because: "harmless" },
    { call: "prctl", args: [PR_SET_CHILD_SUBREAPER, 1], want: "NOTIFY", because: "it adopts" },
    { call: "ioctl", args: [0, TIOCSTI], want: "EPERM", because: "it types on the terminal" },
    { call: "ioctl", args: [0, garbage(TIOCSTI)], want: "EPERM", because: "high half" },
    { call: "ioctl", args: [0, 0xaa00], want: "EPERM", because: "/dev/userfaultfd" },
    { call: "ioctl", args: [0, 0xaa01], want: "ALLOW", because: "another command" },
    { call: "ioctl", args: [0, TIOCLINUX], want: "EPERM", because: "it pastes on the console" },
    { call: "ioctl", args: [0, garbage(TIOCLINUX)], want: "EPERM", because: "high half" },
    { call: "ioctl", args: [0, TIOCGWINSZ], want: "ALLOW", because: "harmless" },
    { call: "ioctl", args: [TIOCSTI, 0], want: "ALLOW", because: "a descriptor, not a command" },
  ])("$call($args) is answered with $want: $because", ({ call, args, want }) => {
    expect(verdict(call, args)).toBe(want);
  });

  test.each([
    { call: "prlimit64", args: [0, 7, SOME_ADDRESS, 0], want: "ALLOW", because: "its own limits" },
    { call: "prlimit64", args: [SOME_PID, 7, 0, SOME_ADDRESS], want: "ALLOW", because: "reads" },
    { call: "prlimit64", args: [SOME_PID, 7, SOME_ADDRESS, 0], want: "NOTIFY", because: "sets" },
    { call: "prlimit64", args: [garbage(0), 7, SOME_ADDRESS], want: "NOTIFY", because: "doubt" },
    { call: "sched_setaffinity", args: [0, 8, SOME_ADDRESS], want: "ALLOW", because: "itself" },
    { call: "sched_setaffinity", args: [SOME_PID, 8], want: "NOTIFY", because: "a peer" },
    { call: "sched_setscheduler", args: [SOME_PID], want: "NOTIFY", because: "a peer" },
    { call: "setpriority", args: [0, 0, 5], want: "ALLOW", because: "itself" },
    { call: "setpriority", args: [0, SOME_PID, 5], want: "NOTIFY", because: "a peer" },
    { call: "setpriority", args: [1, 0, 5], want: "EPERM", because: "a group" },
    { call: "setpriority", args: [garbage(2), 0, 5], want: "EPERM", because: "a user" },
    { call: "ioprio_set", args: [1, 0], want: "ALLOW", because: "itself" },
    { call: "ioprio_set", args: [1, SOME_PID], want: "NOTIFY", because: "a peer" },
    { call: "ioprio_set", args: [2, 0], want: "EPERM", because: "a group" },
    { call: "ioprio_set", args: [3, 0], want: "EPERM", because: "a user" },
    { call: "migrate_pages", args: [0], want: "ALLOW", because: "itself" },
    { call: "migrate_pages", args: [SOME_PID], want: "EPERM", because: "a peer" },
    { call: "move_pages", args: [SOME_PID], want: "EPERM", because: "a peer" },
  ])("$call($args) is answered with $want: $because", ({ call, args, want }) => {
    expect(verdict(call, args)).toBe(want);
  });
});

describe.skipIf(!CAN_COMPILE)("a foreign system call ABI", () => {
  const AUDIT_ARCH_I386 = 0x40000003;
  const AUDIT_ARCH_ARM = 0x40000028;
  const X32_BIT = 0x40000000;
  const answer = (number: number, callArch: number): string => {
    const program = Buffer.from(built().filter, "base64");
    return NAMES.get(runFilter(program, { number, arch: callArch, args: [] })) ?? "another";
  };

  test.each([
    { name: "i386", foreign: AUDIT_ARCH_I386 },
    { name: "arm", foreign: AUDIT_ARCH_ARM },
    {
      name: "the other 64-bit one",
      foreign: AUDIT_ARCH[arch === "aarch64" ? "x86_64" : "aarch64"],
    },
    { name: "none at all", foreign: 0 },
  ])("is refused every number: $name", ({ foreign }) => {
    for (let number = 0; number < 512; number++) expect(answer(number, foreign)).toBe("ENOSYS");
  });

  test.skipIf(arch !== "x86_64")("is refused every number: x32", () => {
    for (let number = 0; number < 600; number++) {
      expect(answer(X32_BIT | number, AUDIT_ARCH.x86_64)).toBe("ENOSYS");
    }
  });
});
