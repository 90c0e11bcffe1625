import { FS_RIGHTS, type FsRight, fsRightBit } from "../../ffi/abi/landlock.ts";

/** What a grant may be used for, in the terms of a policy. */
export type FileUse = "read" | "execute" | "write" | "control";

const USES: Readonly<Record<FileUse, readonly FsRight[]>> = {
  read: ["read_file", "read_dir"],
  execute: ["execute"],
  // Device nodes are left out: root could make one for the disk, and every grant would be moot.
  write: [
    "write_file",
    "remove_dir",
    "remove_file",
    "make_dir",
    "make_reg",
    "make_sock",
    "make_fifo",
    "make_sym",
    "refer",
    "truncate",
    "ioctl_dev",
    "resolve_unix",
  ],
  // isatty() on a device that may only be read must answer "no", not "permission denied".
  control: ["ioctl_dev"],
};

/** The rights that the kernel accepts on something that is not a directory. */
const FILE_RIGHTS: readonly FsRight[] = [
  "execute",
  "write_file",
  "read_file",
  "truncate",
  "ioctl_dev",
  "resolve_unix",
];

const bits = (rights: readonly FsRight[]): number =>
  rights.reduce((sum, right) => sum | fsRightBit(right), 0);

export const READ_DIR = fsRightBit("read_dir");
export const FILE_RIGHT_BITS = bits(FILE_RIGHTS);

/** Everything that this ABI can restrict, out of what Faraday knows. */
export function handledRights(landlockAbi: number): number {
  return bits(FS_RIGHTS.flatMap(({ name, sinceAbi }) => (sinceAbi <= landlockAbi ? name : [])));
}

const USE_BITS: Readonly<Record<FileUse, number>> = {
  read: bits(USES.read),
  execute: bits(USES.execute),
  write: bits(USES.write),
  control: bits(USES.control),
};

export function bitsOf(uses: readonly FileUse[]): number {
  return uses.reduce((sum, use) => sum | USE_BITS[use], 0);
}
