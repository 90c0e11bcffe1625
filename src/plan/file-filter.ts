import { FILE_CALLS } from "../../ffi/abi/file-calls.ts";
import {
  CHANGING_IOCTLS,
  METADATA_CALLS,
  NEW_METADATA_CALLS,
} from "../../ffi/abi/metadata-calls.ts";
import type { FilterRule } from "../../ffi/abi/syscall-filter.ts";

export const TRUNCATE_SINCE_ABI = 3;
const O_TRUNC = 0o1000;
const O_ACCMODE = 3;

const truncatingOpen = (call: string, argument: number, accessMode: number): FilterRule => ({
  call,
  action: "EPERM",
  when: [
    {
      argument,
      op: "masked-equal",
      mask: O_TRUNC | O_ACCMODE,
      value: O_TRUNC | accessMode,
    },
  ],
});

const refusedIoctl = (command: number): FilterRule => ({
  call: "ioctl",
  action: "EPERM",
  when: [{ argument: 1, op: "masked-equal", mask: 0xffff_ffff, value: command }],
});

/** Modes, owners, times and attributes: Landlock has no right for them, so the supervisor acts. */
const METADATA: readonly FilterRule[] = [
  ...Object.keys(METADATA_CALLS).map((call): FilterRule => ({ call, action: "notify", when: [] })),
  ...Object.entries(NEW_METADATA_CALLS).map(
    ([call, number]): FilterRule => ({ call, number, action: "ENOSYS", when: [] }),
  ),
  ...Object.values(CHANGING_IOCTLS).map(refusedIoctl),
];

/** The filters that a seal may need; each is compiled when faraday is built. */
export const SEAL_KINDS = ["sealed", "sealed-old", "explained", "explained-old"] as const;
export type SealKind = (typeof SEAL_KINDS)[number];

export function sealKind(landlockAbi: number, options: { readonly explains: boolean }): SealKind {
  const isOld = landlockAbi < TRUNCATE_SINCE_ABI;
  if (options.explains) return isOld ? "explained-old" : "explained";
  return isOld ? "sealed-old" : "sealed";
}

/** What a seal adds to the filter. */
export function sealFilter(kind: SealKind): readonly FilterRule[] {
  const rules = kind.endsWith("-old") ? [...METADATA, ...TRUNCATION] : METADATA;
  return kind.startsWith("explained") ? [...rules, ...explainFilter(rules)] : rules;
}

/**
 * Before ABI 3 Landlock does not see truncation, so what would empty a file without opening it for
 * writing is refused. (openat2 keeps its flags in memory, out of a filter's sight; who is told
 * ENOSYS takes openat.)
 */
const TRUNCATION: readonly FilterRule[] = [
  { call: "truncate", action: "EPERM", when: [] },
  { call: "openat2", action: "ENOSYS", when: [] },
  truncatingOpen("open", 1, 0),
  // Mode 3 opens for ioctl only, yet it truncates.
  truncatingOpen("open", 1, O_ACCMODE),
  truncatingOpen("openat", 2, 0),
  truncatingOpen("openat", 2, O_ACCMODE),
];

/**
 * With --explain-denials every call that Landlock may deny is shown to the supervisor, which lets
 * all of them go on. A call that is refused, if only in part, stays out of it: of two
 * rules for one call the kernel would have to know which is meant.
 */
function explainFilter(refused: readonly FilterRule[]): readonly FilterRule[] {
  const isRefused = new Set(refused.map(({ call }) => call));
  return Object.keys(FILE_CALLS).flatMap((call) =>
    isRefused.has(call) ? [] : { call, action: "notify", when: [] },
  );
}
