import type { Arch } from "./arch.ts";

/** The calls that Faraday itself makes. (The filter names calls and leaves numbers to libseccomp.) */
const X86_64 = {
  read: 0,
  write: 1,
  close: 3,
  rt_sigaction: 13,
  rt_sigprocmask: 14,
  ioctl: 16,
  pread64: 17,
  sendmsg: 46,
  recvmsg: 47,
  socketpair: 53,
  execve: 59,
  wait4: 61,
  kill: 62,
  fcntl: 72,
  ptrace: 101,
  capget: 125,
  capset: 126,
  prctl: 157,
  gettid: 186,
  openat: 257,
  // aarch64 has no poll(2), so both use ppoll.
  ppoll: 271,
  newfstatat: 262,
  readlinkat: 267,
  prlimit64: 302,
  seccomp: 317,
  memfd_create: 319,
  statx: 332,
  eventfd2: 290,
  dup3: 292,
  pidfd_open: 434,
  close_range: 436,
  openat2: 437,
  landlock_create_ruleset: 444,
  landlock_add_rule: 445,
  landlock_restrict_self: 446,
  exit_group: 231,
  getppid: 110,
  getpgid: 121,
  faccessat: 269,
} as const;

export type CallName = keyof typeof X86_64;

const AARCH64: Readonly<Record<CallName, number>> = {
  read: 63,
  write: 64,
  close: 57,
  rt_sigaction: 134,
  rt_sigprocmask: 135,
  ioctl: 29,
  pread64: 67,
  sendmsg: 211,
  recvmsg: 212,
  socketpair: 199,
  execve: 221,
  wait4: 260,
  kill: 129,
  fcntl: 25,
  ptrace: 117,
  capget: 90,
  capset: 91,
  prctl: 167,
  gettid: 178,
  openat: 56,
  ppoll: 73,
  newfstatat: 79,
  readlinkat: 78,
  prlimit64: 261,
  seccomp: 277,
  memfd_create: 279,
  statx: 291,
  eventfd2: 19,
  dup3: 24,
  pidfd_open: 434,
  close_range: 436,
  openat2: 437,
  landlock_create_ruleset: 444,
  landlock_add_rule: 445,
  landlock_restrict_self: 446,
  exit_group: 94,
  getppid: 173,
  getpgid: 155,
  faccessat: 48,
};

export const SYSCALL_NUMBERS: Readonly<Record<Arch, Readonly<Record<CallName, number>>>> = {
  x86_64: X86_64,
  aarch64: AARCH64,
};

/** The trapped calls that the supervisor has to tell apart by number. */
export const TRAPPED_CALLS: Readonly<
  Record<Arch, Readonly<Record<"execve" | "execveat" | "setpriority" | "ioprio_set", number>>>
> = {
  x86_64: { execve: 59, execveat: 322, setpriority: 141, ioprio_set: 251 },
  aarch64: { execve: 221, execveat: 281, setpriority: 140, ioprio_set: 30 },
};
