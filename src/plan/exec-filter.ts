import type { ArgumentTest, FilterRule } from "../../ffi/abi/syscall-filter.ts";

const CLONE_FS = 0x200;
const CLONE_PARENT = 0x8000;
const CLONE_THREAD = 0x10000;
/** NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, each of its own bit. */
const NAMESPACES = [
  0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000,
] as const;
/** In clone(2) 0x80 belongs to the exit signal: time namespaces are for unshare and clone3 only. */
const CLONE_NAMESPACES = NAMESPACES.slice(1);

const SECCOMP_SET_MODE_FILTER = 1;
const SECCOMP_FILTER_FLAG_NEW_LISTENER = 8;
const PR_SET_MM = 35;
const PR_SET_CHILD_SUBREAPER = 36;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** What /dev/userfaultfd gives to those who may open it. */
const USERFAULTFD_IOC_NEW = 0xaa00;
const PRIO_PROCESS = 0;
const IOPRIO_WHO_PROCESS = 1;

/** The kernel looks at the low half of an int argument only, and so must the filter. */
const LOW_HALF = 0xffff_ffff;
const int = (argument: number, value: number): ArgumentTest => ({
  argument,
  op: "masked-equal",
  mask: LOW_HALF,
  value,
});
const flag = (argument: number, bit: number): ArgumentTest => ({
  argument,
  op: "masked-equal",
  mask: bit,
  value: bit,
});
const refuse = (
  action: "EPERM" | "ENOSYS",
  call: string,
  ...when: readonly ArgumentTest[]
): FilterRule => ({ call, action, when });

/** Calls that would take the ground from under the gate, whoever makes them. */
const MACHINE_CALLS = [
  "mount",
  "umount2",
  "move_mount",
  "open_tree",
  "fsopen",
  "fsmount",
  "fsconfig",
  "fspick",
  "mount_setattr",
  "pivot_root",
  "chroot",
  "setns",
  "bpf",
  "userfaultfd",
  "perf_event_open",
  "open_by_handle_at",
  "kexec_load",
  "kexec_file_load",
  "init_module",
  "finit_module",
  "delete_module",
  "swapon",
  "swapoff",
  "reboot",
  "acct",
  "add_key",
  "request_key",
  "keyctl",
] as const;

/** "A pid other than zero": compared whole, because libseccomp has no masked inequality. */
const anotherProcess = (argument: number): ArgumentTest => ({
  argument,
  op: "not-equal",
  value: 0,
});

/**
 * Settings of other processes. The pid is a value, not memory, so the supervisor may look at it and
 * let the call go on: only its own threads are off limits.
 */
const PEER_CALLS: readonly FilterRule[] = [
  ...["sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"].map(
    (call): FilterRule => ({ call, action: "notify", when: [anotherProcess(0)] }),
  ),
  { call: "prlimit64", action: "notify", when: [anotherProcess(0), anotherProcess(2)] },
  {
    call: "setpriority",
    action: "notify",
    when: [int(0, PRIO_PROCESS), anotherProcess(1)],
  },
  {
    call: "ioprio_set",
    action: "notify",
    when: [int(0, IOPRIO_WHO_PROCESS), anotherProcess(1)],
  },
  // By process group or user the supervisor would be hit as well.
  refuse("EPERM", "setpriority", int(0, 1)),
  refuse("EPERM", "setpriority", int(0, 2)),
  refuse("EPERM", "ioprio_set", int(0, 2)),
  refuse("EPERM", "ioprio_set", int(0, 3)),
  { call: "migrate_pages", action: "EPERM", when: [anotherProcess(0)] },
  { call: "move_pages", action: "EPERM", when: [anotherProcess(0)] },
];

/** What the exec gate needs from the filter: the traps, and no way around them. */
export function execFilter(): readonly FilterRule[] {
  return [
    { call: "execve", action: "notify", when: [] },
    { call: "execveat", action: "notify", when: [] },
    // clone3 keeps its flags in memory, out of a filter's sight; libc falls back to clone.
    refuse("ENOSYS", "clone3"),
    refuse("ENOSYS", "io_uring_setup"),
    refuse("ENOSYS", "io_uring_enter"),
    refuse("ENOSYS", "io_uring_register"),
    // A listener of the agent's own would answer in our place.
    refuse(
      "EPERM",
      "seccomp",
      int(0, SECCOMP_SET_MODE_FILTER),
      flag(1, SECCOMP_FILTER_FLAG_NEW_LISTENER),
    ),
    // A process that shares the working directory could move it between verdict and exec.
    refuse("EPERM", "clone", {
      argument: 0,
      op: "masked-equal",
      mask: CLONE_FS | CLONE_THREAD,
      value: CLONE_FS,
    }),
    // A sibling would have a parent that never started it, which parent rules go by.
    refuse("EPERM", "clone", {
      argument: 0,
      op: "masked-equal",
      mask: CLONE_PARENT | CLONE_THREAD,
      value: CLONE_PARENT,
    }),
    ...CLONE_NAMESPACES.map((bit) => refuse("EPERM", "clone", flag(0, bit))),
    ...NAMESPACES.map((bit) => refuse("EPERM", "unshare", flag(0, bit))),
    // PR_SET_MM moves argv and exe under a process that parent rules look at.
    refuse("EPERM", "prctl", int(0, PR_SET_MM)),
    // Harmless, but then not every child of the caller was started by it.
    { call: "prctl", action: "notify", when: [int(0, PR_SET_CHILD_SUBREAPER)] },
    refuse("EPERM", "ioctl", int(1, TIOCSTI)),
    refuse("EPERM", "ioctl", int(1, TIOCLINUX)),
    refuse("EPERM", "ioctl", int(1, USERFAULTFD_IOC_NEW)),
    ...MACHINE_CALLS.map((call) => refuse("EPERM", call)),
    ...PEER_CALLS,
  ];
}
