import { FILE_CALLS } from "../../ffi/abi/file-calls.ts";
import type { FilterRule } from "../../ffi/abi/syscall-filter.ts";

const TRUNCATE_SINCE_ABI = 3;
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

/**
 * What the filter adds to a seal. Before ABI 3 Landlock does not see truncation, so what would
 * empty a file without opening it for writing is refused. (openat2 keeps its flags in memory, out
 * of a filter's sight; who is told ENOSYS takes openat.)
 */
export function fileFilter(landlockAbi: number): readonly FilterRule[] {
  if (landlockAbi >= TRUNCATE_SINCE_ABI) return [];
  return [
    { call: "truncate", action: "EPERM", when: [] },
    { call: "openat2", action: "ENOSYS", when: [] },
    truncatingOpen("open", 1, 0),
    // Mode 3 opens for ioctl only, yet it truncates.
    truncatingOpen("open", 1, O_ACCMODE),
    truncatingOpen("openat", 2, 0),
    truncatingOpen("openat", 2, O_ACCMODE),
  ];
}

/**
 * With --explain-denials every call that Landlock may deny is shown to the supervisor, which lets
 * all of them go on. A call that `fileFilter` refuses, if only in part, stays out of it: of two
 * rules for one call the kernel would have to know which is meant.
 */
export function explainFilter(refused: readonly FilterRule[]): readonly FilterRule[] {
  const isRefused = new Set(refused.map(({ call }) => call));
  return Object.keys(FILE_CALLS).flatMap((call) =>
    isRefused.has(call) ? [] : { call, action: "notify", when: [] },
  );
}
