import { AUDIT_ARCH } from "../../ffi/abi/arch.ts";
import * as attempt from "../../ffi/abi/attempt-calls.ts";
import { Errno } from "../../ffi/abi/errno.ts";
import * as file from "../../ffi/abi/file.ts";
import * as landlock from "../../ffi/abi/landlock.ts";
import * as libseccomp from "../../ffi/abi/libseccomp.ts";
import * as metadata from "../../ffi/abi/metadata-calls.ts";
import * as pidfd from "../../ffi/abi/pidfd.ts";
import * as process from "../../ffi/abi/process.ts";
import * as ptrace from "../../ffi/abi/ptrace.ts";
import * as seccomp from "../../ffi/abi/seccomp.ts";
import * as socket from "../../ffi/abi/socket.ts";
import type { Fact } from "./header-program.ts";

interface Exceptions {
  /** Where our name is not the header's: the expression that must have the same value. */
  readonly expressions?: Readonly<Record<string, string>>;
  /** What some headers in use do not have, and why; compared wherever it is defined. */
  readonly newer?: Readonly<Record<string, string>>;
  /** What no header says, and why. */
  readonly own?: Readonly<Record<string, string>>;
}

/** Every number that a module exports is a fact under its own name, unless an exception says so. */
function numbersOf(module: Readonly<Record<string, unknown>>, exceptions: Exceptions = {}): Fact[] {
  const { expressions = {}, newer = {}, own = {} } = exceptions;
  for (const name of Object.keys({ ...expressions, ...newer, ...own })) {
    if (typeof module[name] !== "number") throw new Error(`${name} is an exception to nothing`);
  }
  return Object.entries(module).flatMap(([name, ours]) => {
    if (typeof ours !== "number" || name in own) return [];
    const expression = expressions[name] ?? name;
    const reason = newer[name];
    if (reason === undefined) return { name, ours, expression };
    const condition = `defined(${/^\w+$/.test(expression) ? expression : name})`;
    return { name, ours, expression, guard: { condition, reason } };
  });
}

const prefixed = (prefix: string, table: Readonly<Record<string, number>>): Fact[] =>
  Object.entries(table).map(([name, ours]) => ({
    name: prefix + name,
    ours,
    expression: prefix + name,
  }));

/** Debian 12 has the headers of Linux 6.1, which know Landlock up to ABI 2. */
const LANDLOCK_NEWER: Readonly<Record<string, string>> = {
  truncate: "Linux 6.2, Landlock ABI 3",
  ioctl_dev: "Linux 6.10, Landlock ABI 5",
  resolve_unix: "Landlock ABI 9",
};

const landlockRights: readonly Fact[] = landlock.FS_RIGHTS.map(({ name }) => {
  const expression = `LANDLOCK_ACCESS_FS_${name.toUpperCase()}`;
  const reason = LANDLOCK_NEWER[name];
  const fact = { name: expression, ours: landlock.fsRightBit(name), expression };
  return reason === undefined
    ? fact
    : { ...fact, guard: { condition: `defined(${expression})`, reason } };
});

const landlockNumbers: readonly Fact[] = [
  ...numbersOf(landlock, {
    expressions: {
      NET_BIND_TCP: "LANDLOCK_ACCESS_NET_BIND_TCP",
      NET_CONNECT_TCP: "LANDLOCK_ACCESS_NET_CONNECT_TCP",
      SCOPE_ABSTRACT_UNIX_SOCKET: "LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET",
      SCOPE_SIGNAL: "LANDLOCK_SCOPE_SIGNAL",
    },
    newer: {
      NET_BIND_TCP: "Linux 6.7, Landlock ABI 4",
      NET_CONNECT_TCP: "Linux 6.7, Landlock ABI 4",
      SCOPE_ABSTRACT_UNIX_SOCKET: "Linux 6.12, Landlock ABI 6",
      SCOPE_SIGNAL: "Linux 6.12, Landlock ABI 6",
    },
    own: {
      // An enum, which no condition of the preprocessor can see.
      LANDLOCK_RULE_NET_PORT: "Linux 6.7; a rule of this kind is made by the tests of the pin",
      NET_SINCE_ABI: "a version; the kernel's documentation has it",
      SCOPES_SINCE_ABI: "a version; the kernel's documentation has it",
    },
  }),
  ...landlockRights,
];

const LIBSECCOMP_HEADER = "libseccomp-dev is not needed to build, so seccomp.h may be missing";
/** The kernel's own names for the actions, which libseccomp passes through. */
const ACTIONS: Readonly<Record<string, string>> = {
  SCMP_ACT_ALLOW: "SECCOMP_RET_ALLOW",
  SCMP_ACT_ERRNO: "SECCOMP_RET_ERRNO",
  SCMP_ACT_NOTIFY: "SECCOMP_RET_USER_NOTIF",
};
const libseccompNumbers: readonly Fact[] = numbersOf(libseccomp, {
  expressions: { NR_SCMP_ERROR: "__NR_SCMP_ERROR", ...ACTIONS },
}).map((fact) =>
  fact.name in ACTIONS
    ? fact
    : { ...fact, guard: { condition: "__has_include(<seccomp.h>)", reason: LIBSECCOMP_HEADER } },
);

const STACK_POINTERS: readonly Fact[] = [
  {
    name: "STACK_POINTER_AT.x86_64",
    ours: ptrace.STACK_POINTER_AT.x86_64,
    expression: "offsetof(struct user_regs_struct, rsp)",
    guard: { condition: "defined(__x86_64__)", reason: "the other machine's registers" },
  },
  {
    name: "STACK_POINTER_AT.aarch64",
    ours: ptrace.STACK_POINTER_AT.aarch64,
    expression: "offsetof(struct user_regs_struct, sp)",
    guard: { condition: "defined(__aarch64__)", reason: "the other machine's registers" },
  },
];

/** Numbers from libc's headers, and from those of the kernel's that agree with them. */
export const LIBC_NUMBERS: readonly Fact[] = [
  { name: "AUDIT_ARCH_X86_64", ours: AUDIT_ARCH.x86_64, expression: "AUDIT_ARCH_X86_64" },
  { name: "AUDIT_ARCH_AARCH64", ours: AUDIT_ARCH.aarch64, expression: "AUDIT_ARCH_AARCH64" },
  ...prefixed("", Errno),
  ...prefixed("SIG", process.Signal),
  ...prefixed("CAP_", process.Capability),
  ...prefixed("CAP_", process.NetworkCapability),
  ...numbersOf(file, {
    expressions: {
      STATX_BASIC: "STATX_BASIC_STATS",
      DIRENT_NAME_AT: "offsetof(struct dirent64, d_name)",
      O_TMPFILE_BIT: "O_TMPFILE & ~O_DIRECTORY",
      F_SEAL_ALL: "F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE",
    },
    newer: { MFD_EXEC: "Linux 6.3" },
  }),
  ...numbersOf(process, {
    expressions: {
      SIGNAL_MAX: "SIGRTMAX",
      SIGACTION_BYTES: "sizeof(struct sigaction)",
      SIGACTION_FLAGS_AT: "offsetof(struct sigaction, sa_flags)",
      CAP_VERSION_3: "_LINUX_CAPABILITY_VERSION_3",
      CMSG_ONE_FD_LENGTH: "CMSG_LEN(sizeof(int))",
    },
    own: { SPAWN_ACTIONS_BYTES: "room, not a size: a test of its own" },
  }),
  ...numbersOf(seccomp, {
    expressions: { SOCK_FILTER_BYTES: "sizeof(struct sock_filter)" },
    newer: {
      SECCOMP_IOCTL_NOTIF_SET_FLAGS: "Linux 6.6",
      SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP: "Linux 6.6",
    },
  }),
  ...numbersOf(socket, {
    expressions: { SOCKADDR_BYTES_MAX: "sizeof(struct sockaddr_storage)" },
    newer: {
      SO_PEERPIDFD: "Linux 6.5",
      IPV6_2292PKTOPTIONS: "the kernel's header only",
    },
    own: { SOCK_TYPE_MASK: "the kernel does not export it; the filter's tests try all types" },
  }),
  ...numbersOf(metadata.CHANGING_IOCTLS, {
    expressions: {
      EXT4_IOC_SETVERSION: "_IOW('f', 4, long)",
      EXT4_IOC_MIGRATE: "_IO('f', 9)",
      BTRFS_IOC_SET_RECEIVED_SUBVOL_32: "_IOC(_IOC_READ | _IOC_WRITE, 0x94, 37, 192)",
    },
  }),
  ...numbersOf(attempt),
  ...landlockNumbers,
  ...libseccompNumbers,
  ...STACK_POINTERS,
];

/** Numbers from headers of the kernel's that cannot be included beside libc's. */
export const KERNEL_NUMBERS: readonly Fact[] = [
  ...numbersOf(ptrace, {
    expressions: { WALL: "__WALL", SYSCALL_STOP_SIGNAL: "SIGTRAP | 0x80" },
    own: { REGISTERS_BYTES_MAX: "room for both machines: a test of its own" },
  }),
  ...numbersOf(pidfd, {
    expressions: {
      // The header's has the size of its newest struct in it; ours keeps to the first one.
      PIDFD_GET_INFO: "(PIDFD_GET_INFO & ~(0x3fff << 16)) | (64 << 16)",
    },
    newer: {
      PIDFD_THREAD: "Linux 6.9",
      PIDFD_INFO_PID: "Linux 6.13",
      PIDFD_INFO_CREDS: "Linux 6.13",
      PIDFD_GET_INFO: "Linux 6.13",
    },
  }),
];

/** Sizes that ours must not be smaller than. */
export const ROOMS: readonly Fact[] = [
  {
    name: "SPAWN_ACTIONS_BYTES",
    ours: process.SPAWN_ACTIONS_BYTES,
    expression: "sizeof(posix_spawn_file_actions_t)",
  },
  {
    name: "REGISTERS_BYTES_MAX",
    ours: ptrace.REGISTERS_BYTES_MAX,
    expression: "sizeof(struct user_regs_struct)",
  },
];
