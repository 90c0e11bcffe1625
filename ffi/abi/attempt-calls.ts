import type { Arch } from "./arch.ts";

/** The calls that `selftest` makes from inside the sandbox, mostly to be refused. */
const X86_64 = {
  bind: 49,
  bpf: 321,
  chroot: 161,
  execveat: 322,
  io_uring_setup: 425,
  keyctl: 250,
  mount: 165,
  open_by_handle_at: 304,
  perf_event_open: 298,
  pidfd_getfd: 438,
  process_vm_writev: 311,
  renameat2: 316,
  sendto: 44,
  setns: 308,
  symlinkat: 266,
  truncate: 76,
  unlinkat: 263,
  unshare: 272,
  userfaultfd: 323,
} as const;

export type AttemptCall = keyof typeof X86_64;

const AARCH64: Readonly<Record<AttemptCall, number>> = {
  bind: 200,
  bpf: 280,
  chroot: 51,
  execveat: 281,
  io_uring_setup: 425,
  keyctl: 219,
  mount: 40,
  open_by_handle_at: 265,
  perf_event_open: 241,
  pidfd_getfd: 438,
  process_vm_writev: 271,
  renameat2: 276,
  sendto: 206,
  setns: 268,
  symlinkat: 36,
  truncate: 45,
  unlinkat: 35,
  unshare: 97,
  userfaultfd: 282,
};

export const ATTEMPT_CALLS: Readonly<Record<Arch, Readonly<Record<AttemptCall, number>>>> = {
  x86_64: X86_64,
  aarch64: AARCH64,
};

export const CLONE_NEWUSER = 0x10000000;
export const TIOCSTI = 0x5412;
/** The bit by which x32 calls are told from native ones; null where there is no such ABI. */
export const X32_BIT: Readonly<Record<Arch, number | null>> = {
  x86_64: 0x40000000,
  aarch64: null,
};
