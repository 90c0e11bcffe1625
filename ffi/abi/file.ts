import type { Arch } from "./arch.ts";
import { array, i32, struct, u8, u16, u32, u64 } from "./struct.ts";

export const AT_FDCWD = -100;
export const AT_SYMLINK_NOFOLLOW = 0x100;
export const AT_EMPTY_PATH = 0x1000;

export const O_RDONLY = 0;
export const O_WRONLY = 1;
export const O_RDWR = 2;
export const O_CREAT = 0o100;
export const O_EXCL = 0o200;
export const O_NOCTTY = 0o400;
export const O_TRUNC = 0o1000;
export const O_ACCMODE = 3;
/** What O_TMPFILE has beside O_DIRECTORY. */
export const O_TMPFILE_BIT = 0o20000000;
export const O_APPEND = 0o2000;
export const O_NONBLOCK = 0o4000;
export const O_CLOEXEC = 0o2000000;
export const O_PATH = 0o10000000;
/** One of the few flags that the two machines number differently. */
export const O_NOFOLLOW: Readonly<Record<Arch, number>> = {
  x86_64: 0o400000,
  aarch64: 0o100000,
};

export const RESOLVE_NO_MAGICLINKS = 2;
export const RESOLVE_NO_SYMLINKS = 4;

export const S_IFMT = 0o170000;
export const S_IFREG = 0o100000;
export const S_IFDIR = 0o040000;
export const S_IFLNK = 0o120000;
export const S_IFIFO = 0o010000;

export const STATX_BASIC = 0x7ff;

export const OpenHow = struct({ flags: u64, mode: u64, resolve: u64 });

export const Statx = struct({
  mask: u32,
  blksize: u32,
  attributes: u64,
  nlink: u32,
  uid: u32,
  gid: u32,
  mode: u16,
  spare0: u16,
  ino: u64,
  size: u64,
  blocks: u64,
  attributesMask: u64,
  atime: array(u64, 2),
  btime: array(u64, 2),
  ctimeSec: u64,
  ctimeNsec: u32,
  ctimePad: i32,
  mtime: array(u64, 2),
  rdevMajor: u32,
  rdevMinor: u32,
  devMajor: u32,
  devMinor: u32,
  rest: array(u64, 14),
});

/** Up to the name, which ends in a NUL; `recordBytes` leads to the next entry. */
export const Dirent64 = struct({ ino: u64, offset: u64, recordBytes: u16, type: u8 });
export const DIRENT_NAME_AT = 19;
export const DT_UNKNOWN = 0;
export const DT_DIR = 4;
export const DT_LNK = 10;

export const F_GETFD = 1;
export const F_SETFD = 2;
export const F_GETFL = 3;
export const F_SETFL = 4;
export const F_DUPFD_CLOEXEC = 1030;
export const FD_CLOEXEC = 1;

export const MFD_CLOEXEC = 1;
export const MFD_ALLOW_SEALING = 2;
/** Linux 6.3; older kernels answer EINVAL. */
export const MFD_EXEC = 0x10;
export const F_ADD_SEALS = 1033;
export const F_SEAL_ALL = 0xf;

export const POLLIN = 1;
export const POLLOUT = 4;
export const POLLHUP = 16;
export const PollFd = struct({ fd: i32, events: u16, revents: u16 });
export const Timespec = struct({ seconds: u64, nanoseconds: u64 });
export const Itimerspec = struct({ interval: Timespec, value: Timespec });
