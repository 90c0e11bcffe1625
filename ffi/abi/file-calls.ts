import type { Arch } from "./arch.ts";

/**
 * The calls that Landlock judges by path: their numbers, and where their arguments are. A `dir` of
 * null means that relative paths start from the working directory; aarch64 has no such calls.
 */
export interface FileCallShape {
  readonly numbers: Readonly<Record<Arch, number | null>>;
  readonly kind:
    | "open"
    | "creat"
    | "openat2"
    | "truncate"
    | "unlink"
    | "rmdir"
    | "unlinkat"
    | "mkdir"
    | "mknod"
    | "symlink"
    | "rename"
    | "link";
  readonly dir: number | null;
  readonly path: number;
  /** For calls with two names: where the second is. */
  readonly second?: { readonly dir: number | null; readonly path: number };
  /** Where the flags are, or the mode of mknod. */
  readonly flags?: number;
}

const legacy = (
  x86_64: number,
  kind: FileCallShape["kind"],
  rest: Partial<FileCallShape> = {},
): FileCallShape => ({
  numbers: { x86_64, aarch64: null },
  kind,
  dir: null,
  path: 0,
  ...rest,
});

const at = (
  x86_64: number,
  aarch64: number,
  kind: FileCallShape["kind"],
  rest: Partial<FileCallShape> = {},
): FileCallShape => ({ numbers: { x86_64, aarch64 }, kind, dir: 0, path: 1, ...rest });

const PAIR = { second: { dir: null, path: 1 } } as const;
const PAIR_AT = { second: { dir: 2, path: 3 } } as const;

export const FILE_CALLS = {
  open: legacy(2, "open", { flags: 1 }),
  openat: at(257, 56, "open", { flags: 2 }),
  openat2: at(437, 437, "openat2", { flags: 2 }),
  creat: legacy(85, "creat"),
  truncate: { ...at(76, 45, "truncate"), dir: null, path: 0 },
  unlink: legacy(87, "unlink"),
  rmdir: legacy(84, "rmdir"),
  unlinkat: at(263, 35, "unlinkat", { flags: 2 }),
  mkdir: legacy(83, "mkdir"),
  mkdirat: at(258, 34, "mkdir"),
  mknod: legacy(133, "mknod", { flags: 1 }),
  mknodat: at(259, 33, "mknod", { flags: 2 }),
  // The name that is made comes second; what the link says is nobody's business.
  symlink: legacy(88, "symlink", { path: 1 }),
  symlinkat: at(266, 36, "symlink", { dir: 1, path: 2 }),
  rename: legacy(82, "rename", PAIR),
  renameat: at(264, 38, "rename", PAIR_AT),
  renameat2: at(316, 276, "rename", PAIR_AT),
  link: legacy(86, "link", PAIR),
  linkat: at(265, 37, "link", PAIR_AT),
} as const satisfies Readonly<Record<string, FileCallShape>>;

export type FileCallName = keyof typeof FILE_CALLS;
