import { i32, struct, u32, u64 } from "./struct.ts";

/** Linux 6.9: a descriptor for a thread that need not be its process's leader. */
export const PIDFD_THREAD = 0o200;

/** Linux 6.13, first version of the struct. */
export const PidfdInfo = struct({
  mask: u64,
  cgroupId: u64,
  pid: u32,
  tgid: u32,
  ppid: u32,
  ruid: u32,
  rgid: u32,
  euid: u32,
  egid: u32,
  suid: u32,
  sgid: u32,
  fsuid: u32,
  fsgid: u32,
  exitCode: i32,
});

export const PIDFD_INFO_PID = 1;
export const PIDFD_INFO_CREDS = 2;
/** _IOWR(0xff, 11, struct pidfd_info) with the size of the first version. */
export const PIDFD_GET_INFO = 0xc040ff0b;
