import { i32, struct, u64 } from "./struct.ts";

export const LandlockRulesetAttr = struct({
  handledAccessFs: u64,
  handledAccessNet: u64,
  scoped: u64,
});

// The kernel packs this one: 12 bytes, not 16.
export const LandlockPathBeneathAttr = struct(
  { allowedAccess: u64, parentFd: i32 },
  { packed: true },
);

export const LandlockNetPortAttr = struct({ allowedAccess: u64, port: u64 });

export const LANDLOCK_CREATE_RULESET_VERSION = 1;
export const LANDLOCK_RULE_PATH_BENEATH = 1;
export const LANDLOCK_RULE_NET_PORT = 2;

/** The rights of `handled_access_fs`, in bit order, with the ABI that brought each. */
export const FS_RIGHTS = [
  { name: "execute", sinceAbi: 1 },
  { name: "write_file", sinceAbi: 1 },
  { name: "read_file", sinceAbi: 1 },
  { name: "read_dir", sinceAbi: 1 },
  { name: "remove_dir", sinceAbi: 1 },
  { name: "remove_file", sinceAbi: 1 },
  { name: "make_char", sinceAbi: 1 },
  { name: "make_dir", sinceAbi: 1 },
  { name: "make_reg", sinceAbi: 1 },
  { name: "make_sock", sinceAbi: 1 },
  { name: "make_fifo", sinceAbi: 1 },
  { name: "make_block", sinceAbi: 1 },
  { name: "make_sym", sinceAbi: 1 },
  { name: "refer", sinceAbi: 2 },
  { name: "truncate", sinceAbi: 3 },
  { name: "ioctl_dev", sinceAbi: 5 },
  { name: "resolve_unix", sinceAbi: 9 },
] as const;

export type FsRight = (typeof FS_RIGHTS)[number]["name"];

export function fsRightBit(right: FsRight): number {
  return 1 << FS_RIGHTS.findIndex((entry) => entry.name === right);
}

export const NET_BIND_TCP = 1;
export const NET_CONNECT_TCP = 2;
export const NET_SINCE_ABI = 4;

export const SCOPE_ABSTRACT_UNIX_SOCKET = 1;
export const SCOPE_SIGNAL = 2;
export const SCOPES_SINCE_ABI = 6;
