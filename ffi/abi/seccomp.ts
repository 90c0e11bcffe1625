import { array, i32, i64, struct, u16, u32, u64 } from "./struct.ts";

export const SeccompData = struct({
  nr: i32,
  arch: u32,
  instructionPointer: u64,
  args: array(u64, 6),
});

export const SeccompNotif = struct({ id: u64, pid: u32, flags: u32, data: SeccompData });

export const SeccompNotifResp = struct({ id: u64, val: i64, error: i32, flags: u32 });

export const SeccompNotifSizes = struct({ notif: u16, resp: u16, data: u16 });

export const SockFprog = struct({ len: u16, filter: u64 });
export const SOCK_FILTER_BYTES = 8;

export const SECCOMP_SET_MODE_FILTER = 1;

export const SECCOMP_FILTER_FLAG_NEW_LISTENER = 8;
/** Linux 5.19: a notification that was received is no longer interrupted by every signal. */
export const SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV = 32;

export const SECCOMP_RET_USER_NOTIF = 0x7fc00000;

export const SECCOMP_USER_NOTIF_FLAG_CONTINUE = 1;

export const SECCOMP_IOCTL_NOTIF_RECV = 0xc0502100;
export const SECCOMP_IOCTL_NOTIF_SEND = 0xc0182101;
export const SECCOMP_IOCTL_NOTIF_ID_VALID = 0x40082102;
/** Linux 5.9. */
export const SeccompNotifAddfd = struct({
  id: u64,
  flags: u32,
  srcfd: u32,
  newfd: u32,
  newfdFlags: u32,
});
export const SECCOMP_IOCTL_NOTIF_ADDFD = 0x40182103;
export const SECCOMP_ADDFD_FLAG_SETFD = 1;
export const SECCOMP_IOCTL_NOTIF_SET_FLAGS = 0x40082104;
/** Linux 6.6: caller and supervisor hand over on one CPU, which cuts the round trip 3-6 times. */
export const SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP = 1;
