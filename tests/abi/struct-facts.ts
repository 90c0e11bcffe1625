import * as file from "../../ffi/abi/file.ts";
import * as landlock from "../../ffi/abi/landlock.ts";
import * as libseccomp from "../../ffi/abi/libseccomp.ts";
import * as pidfd from "../../ffi/abi/pidfd.ts";
import * as process from "../../ffi/abi/process.ts";
import * as seccomp from "../../ffi/abi/seccomp.ts";
import * as socket from "../../ffi/abi/socket.ts";
import type { StructLayout } from "../../ffi/abi/struct.ts";
import type { Fact } from "./header-program.ts";

interface CType {
  readonly type: string;
  /** Fields whose name is not ours with `_` for capitals: the member, or the whole expression. */
  readonly members?: Readonly<Record<string, string>>;
  /** Put before every member's name. */
  readonly prefix?: string;
  /** Fields that are padding, or members that older headers do not name. */
  readonly unnamed?: readonly string[];
  /** Where the C struct is longer than what we declare of it. */
  readonly size?: string;
  readonly guard?: Fact["guard"];
}

/** In headers that can be included beside libc's. */
const LIBC_TYPES: Readonly<Record<string, CType>> = {
  SeccompData: { type: "struct seccomp_data" },
  SeccompNotif: { type: "struct seccomp_notif" },
  SeccompNotifResp: { type: "struct seccomp_notif_resp" },
  SeccompNotifSizes: {
    type: "struct seccomp_notif_sizes",
    members: { notif: "seccomp_notif", resp: "seccomp_notif_resp", data: "seccomp_data" },
  },
  SeccompNotifAddfd: { type: "struct seccomp_notif_addfd" },
  SockaddrIn: { type: "struct sockaddr_in", prefix: "sin_", members: { address: "sin_addr" } },
  SockaddrIn6: { type: "struct sockaddr_in6", prefix: "sin6_", members: { address: "sin6_addr" } },
  SockaddrUn: { type: "struct sockaddr_un", prefix: "sun_" },
  Timeval: {
    type: "struct timeval",
    members: { seconds: "tv_sec", microseconds: "tv_usec" },
  },
  LandlockNetPortAttr: {
    type: "struct landlock_net_port_attr",
    guard: {
      condition: "LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)",
      reason: "Linux 6.7 brought the struct",
    },
  },
  SockFprog: { type: "struct sock_fprog" },
  LandlockPathBeneathAttr: { type: "struct landlock_path_beneath_attr" },
  LandlockRulesetAttr: {
    type: "struct landlock_ruleset_attr",
    size: "offsetof(struct landlock_ruleset_attr, scoped) + sizeof(__u64)",
    guard: {
      condition: "LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)",
      reason: "Linux 6.7 brought handled_access_net and 6.12 scoped",
    },
  },
  ScmpArgCmp: {
    type: "struct scmp_arg_cmp",
    guard: {
      condition: "__has_include(<seccomp.h>)",
      reason: "libseccomp-dev is not needed to build, so seccomp.h may be missing",
    },
  },
  OpenHow: { type: "struct open_how" },
  Statx: {
    type: "struct statx",
    prefix: "stx_",
    members: {
      ctimeSec: "stx_ctime.tv_sec",
      ctimeNsec: "stx_ctime.tv_nsec",
      rest: "stx_dev_minor) + sizeof(__u32",
    },
    unnamed: ["spare0", "ctimePad"],
  },
  Dirent64: {
    type: "struct dirent64",
    members: { ino: "d_ino", offset: "d_off", recordBytes: "d_reclen", type: "d_type" },
    size: "(offsetof(struct dirent64, d_name) + 7) / 8 * 8",
  },
  PollFd: { type: "struct pollfd" },
  Sigevent: {
    type: "struct sigevent",
    prefix: "sigev_",
    members: { threadId: "_sigev_un._tid" },
    unnamed: ["rest"],
  },
  CapHeader: { type: "struct __user_cap_header_struct" },
  CapData: { type: "struct __user_cap_data_struct" },
  Iovec: { type: "struct iovec", prefix: "iov_", members: { length: "iov_len" } },
  Msghdr: {
    type: "struct msghdr",
    prefix: "msg_",
    members: {
      nameLength: "msg_namelen",
      iovLength: "msg_iovlen",
      controlLength: "msg_controllen",
    },
  },
  CmsgOneFd: {
    type: "struct cmsghdr",
    prefix: "cmsg_",
    members: { length: "cmsg_len", fd: "cmsg_len) + CMSG_LEN(0" },
    unnamed: ["pad"],
    size: "CMSG_SPACE(sizeof(int))",
  },
};

/** In headers of the kernel's that cannot be included beside libc's. */
const KERNEL_TYPES: Readonly<Record<string, CType>> = {
  KernelSigaction: { type: "struct sigaction", prefix: "sa_" },
  Rlimit64: { type: "struct rlimit64", members: { current: "rlim_cur", maximum: "rlim_max" } },
  Timespec: {
    type: "struct __kernel_timespec",
    members: { seconds: "tv_sec", nanoseconds: "tv_nsec" },
  },
  Itimerspec: {
    type: "struct __kernel_itimerspec",
    members: { interval: "it_interval", value: "it_value" },
  },
  PidfdInfo: {
    type: "struct pidfd_info",
    members: { cgroupId: "cgroupid" },
    size: "PIDFD_INFO_SIZE_VER0",
    guard: {
      condition: "LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)",
      reason: "Linux 6.13 brought the struct and 6.15 the name of exit_code",
    },
  },
};

const MODULES: Readonly<Record<string, unknown>> = {
  ...file,
  ...landlock,
  ...libseccomp,
  ...pidfd,
  ...process,
  ...seccomp,
  ...socket,
};

function isLayout(value: unknown): value is StructLayout<string> {
  return typeof value === "object" && value !== null && "at" in value && "size" in value;
}

/** The layouts that no header is named for above; there must be none. */
export const UNCOMPARED_LAYOUTS: readonly string[] = Object.entries(MODULES)
  .filter(([name, value]) => isLayout(value) && !(name in LIBC_TYPES) && !(name in KERNEL_TYPES))
  .map(([name]) => name);

export const LIBC_STRUCTS: readonly Fact[] = Object.entries(LIBC_TYPES).flatMap(structFacts);
export const KERNEL_STRUCTS: readonly Fact[] = Object.entries(KERNEL_TYPES).flatMap(structFacts);

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (each) => `_${each.toLowerCase()}`);
}

/** The size of a struct and the offset of each of its fields. */
function structFacts([name, c]: readonly [string, CType]): readonly Fact[] {
  const layout = MODULES[name];
  if (!isLayout(layout)) throw new Error(`ffi/abi exports no layout ${name}`);
  const guard = c.guard === undefined ? {} : { guard: c.guard };
  const size = {
    name: `sizeof ${name}`,
    ours: layout.size,
    expression: c.size ?? `sizeof(${c.type})`,
  };
  const offsets = Object.entries(layout.at).flatMap(([field, ours]) => {
    if (c.unnamed?.includes(field)) return [];
    const member = c.members?.[field] ?? (c.prefix ?? "") + snake(field);
    return {
      name: `${name}.${field}`,
      ours,
      expression: `offsetof(${c.type}, ${member})`,
      ...guard,
    };
  });
  return [{ ...size, ...guard }, ...offsets];
}
