import { array, i32, struct, u32, u64 } from "./struct.ts";

export const PR_SET_PDEATHSIG = 1;
export const PR_SET_DUMPABLE = 4;
export const PR_SET_MM = 35;
export const PR_CAPBSET_DROP = 24;
export const PR_SET_CHILD_SUBREAPER = 36;
export const PR_SET_NO_NEW_PRIVS = 38;
export const PR_CAP_AMBIENT = 47;
export const PR_CAP_AMBIENT_CLEAR_ALL = 4;

export const RLIMIT_NOFILE = 7;

export const SIG_DFL = 0;
export const SIG_IGN = 1;
export const SIGNAL_MAX = 64;
export const SA_RESTART = 0x10000000;
export const SA_SIGINFO = 4;
/** No signal for children that stop; there is one for those that end. */
export const SA_NOCLDSTOP = 1;
export const SIG_SETMASK = 2;

export const Signal = {
  HUP: 1,
  INT: 2,
  QUIT: 3,
  KILL: 9,
  USR1: 10,
  USR2: 12,
  PIPE: 13,
  TERM: 15,
  /** Unused by kernel and C library, so nobody sends it but ourselves. */
  STKFLT: 16,
  CHLD: 17,
  CONT: 18,
  STOP: 19,
  TSTP: 20,
  TTIN: 21,
  TTOU: 22,
  XFSZ: 25,
  WINCH: 28,
} as const;

/** glibc's struct sigaction: its mask has room for 1024 signals. */
export const SIGACTION_BYTES = 8 + 128 + 8 + 8;
export const SIGACTION_FLAGS_AT = 8 + 128;

/** The kernel's own, as rt_sigaction takes it. */
export const KernelSigaction = struct({ handler: u64, flags: u64, restorer: u64, mask: u64 });

export const CLOCK_MONOTONIC = 1;
/** A timer that signals one thread. */
export const SIGEV_THREAD_ID = 4;
export const Sigevent = struct({
  value: u64,
  signo: i32,
  notify: i32,
  threadId: i32,
  rest: array(u32, 11),
});

/** Room for glibc's posix_spawn_file_actions_t (80 bytes) with some to spare. */
export const SPAWN_ACTIONS_BYTES = 256;

export const CapHeader = struct({ version: u32, pid: i32 });
export const CAP_VERSION_3 = 0x20080522;
/** Two of these: low and high words of effective, permitted, inheritable. */
export const CapData = struct({ effective: u32, permitted: u32, inheritable: u32 });

/** Routes and addresses of the machine, and packets made by hand. */
export const NetworkCapability = { NET_ADMIN: 12, NET_RAW: 13 } as const;

export const Capability = {
  SYS_MODULE: 16,
  SYS_RAWIO: 17,
  SYS_PTRACE: 19,
  SYS_ADMIN: 21,
  SYS_BOOT: 22,
  SYS_TIME: 25,
  AUDIT_CONTROL: 30,
  MAC_OVERRIDE: 32,
  MAC_ADMIN: 33,
  PERFMON: 38,
  BPF: 39,
  CHECKPOINT_RESTORE: 40,
} as const;

export const Rlimit64 = struct({ current: u64, maximum: u64 });

export const Iovec = struct({ base: u64, length: u64 });
export const Msghdr = struct({
  name: u64,
  nameLength: u32,
  iov: u64,
  iovLength: u64,
  control: u64,
  controlLength: u64,
  flags: i32,
});
/** A control message that carries one descriptor: cmsghdr, the int, padding. */
export const CmsgOneFd = struct({ length: u64, level: i32, type: i32, fd: i32, pad: i32 });
/** cmsg_len counts header and data without the padding. */
export const CMSG_ONE_FD_LENGTH = 20;
