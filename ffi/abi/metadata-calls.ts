import type { Arch } from "./arch.ts";

/** Where a call says which file it means. */
export type MetadataTarget =
  | { readonly kind: "path"; readonly path: number; readonly follows: boolean }
  | { readonly kind: "at"; readonly dir: number; readonly path: number; readonly flags?: number }
  | { readonly kind: "fd"; readonly fd: number };

/** What it changes, and where the new values are among its arguments. */
export type MetadataChange =
  | { readonly kind: "mode"; readonly mode: number }
  | { readonly kind: "owner"; readonly uid: number; readonly gid: number }
  | {
      readonly kind: "times";
      readonly times: number;
      readonly format: "timespec" | "timeval" | "seconds";
    }
  | {
      readonly kind: "set-attribute";
      readonly name: number;
      readonly value: number;
      readonly size: number;
      readonly flags: number;
    }
  | { readonly kind: "remove-attribute"; readonly name: number };

/** The calls that change what Landlock has no right for. */
export interface MetadataCall {
  readonly numbers: Readonly<Record<Arch, number | null>>;
  readonly target: MetadataTarget;
  readonly change: MetadataChange;
}

const path = (follows: boolean): MetadataTarget => ({ kind: "path", path: 0, follows });
const at = (flags?: number): MetadataTarget =>
  flags === undefined ? { kind: "at", dir: 0, path: 1 } : { kind: "at", dir: 0, path: 1, flags };
const fd: MetadataTarget = { kind: "fd", fd: 0 };
const mode = (argument: number): MetadataChange => ({ kind: "mode", mode: argument });
const owner = (uid: number): MetadataChange => ({ kind: "owner", uid, gid: uid + 1 });
const times = (argument: number, format: "timespec" | "timeval" | "seconds"): MetadataChange => ({
  kind: "times",
  times: argument,
  format,
});
const setAttribute: MetadataChange = {
  kind: "set-attribute",
  name: 1,
  value: 2,
  size: 3,
  flags: 4,
};
const removeAttribute: MetadataChange = { kind: "remove-attribute", name: 1 };

const call = (
  x86_64: number,
  aarch64: number | null,
  target: MetadataTarget,
  change: MetadataChange,
): MetadataCall => ({ numbers: { x86_64, aarch64 }, target, change });

export const METADATA_CALLS = {
  chmod: call(90, null, path(true), mode(1)),
  fchmod: call(91, 52, fd, mode(1)),
  fchmodat: call(268, 53, at(), mode(2)),
  chown: call(92, null, path(true), owner(1)),
  lchown: call(94, null, path(false), owner(1)),
  fchown: call(93, 55, fd, owner(1)),
  fchownat: call(260, 54, at(4), owner(2)),
  utime: call(132, null, path(true), times(1, "seconds")),
  utimes: call(235, null, path(true), times(1, "timeval")),
  futimesat: call(261, null, at(), times(2, "timeval")),
  utimensat: call(280, 88, at(3), times(2, "timespec")),
  setxattr: call(188, 5, path(true), setAttribute),
  lsetxattr: call(189, 6, path(false), setAttribute),
  fsetxattr: call(190, 7, fd, setAttribute),
  removexattr: call(197, 14, path(true), removeAttribute),
  lremovexattr: call(198, 15, path(false), removeAttribute),
  fremovexattr: call(199, 16, fd, removeAttribute),
} as const satisfies Readonly<Record<string, MetadataCall>>;

/** Newer forms of the same, for which libraries fall back: one number on all machines. */
export const NEW_METADATA_CALLS = {
  fchmodat2: 452,
  setxattrat: 463,
  removexattrat: 466,
  file_setattr: 469,
} as const;

/**
 * Commands that change a file or a tree through a descriptor that may only be read, or may be used
 * for ioctl alone. A snapshot shows what is in holes under another path.
 */
export const CHANGING_IOCTLS = {
  FS_IOC_SETFLAGS: 0x4008_6602,
  FS_IOC_FSSETXATTR: 0x401c_5820,
  FS_IOC_SETVERSION: 0x4008_7602,
  EXT4_IOC_SETVERSION: 0x4008_6604,
  EXT4_IOC_MIGRATE: 0x6609,
  FS_IOC_ENABLE_VERITY: 0x4080_6685,
  FS_IOC_SET_ENCRYPTION_POLICY: 0x800c_6613,
  FAT_IOCTL_SET_ATTRIBUTES: 0x4004_7211,
  BTRFS_IOC_SNAP_CREATE: 0x5000_9401,
  BTRFS_IOC_SNAP_CREATE_V2: 0x5000_9417,
  BTRFS_IOC_SUBVOL_CREATE: 0x5000_940e,
  BTRFS_IOC_SUBVOL_CREATE_V2: 0x5000_9418,
  BTRFS_IOC_SNAP_DESTROY: 0x5000_940f,
  BTRFS_IOC_SNAP_DESTROY_V2: 0x5000_943f,
  BTRFS_IOC_SUBVOL_SETFLAGS: 0x4008_941a,
  BTRFS_IOC_DEFAULT_SUBVOL: 0x4008_9413,
  BTRFS_IOC_SET_RECEIVED_SUBVOL: 0xc0c8_9425,
  BTRFS_IOC_SET_RECEIVED_SUBVOL_32: 0xc0c0_9425,
} as const;
