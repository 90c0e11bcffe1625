import type { FilesystemPolicy } from "../policy/model.ts";
import type { LayerState } from "./layer-states.ts";

interface Gap {
  readonly beforeAbi: number;
  readonly text: string;
}

/** What a kernel leaves open that a later one closes; none of it opens a file beyond the grants. */
const LIMITS: readonly Gap[] = [
  {
    beforeAbi: 2,
    text: "renames and links between directories always fail (Linux 5.19 can grant them)",
  },
  {
    beforeAbi: 5,
    text: "ioctl on device files that may be opened is not restricted (Linux 6.10)",
  },
];

/** True on every kernel: Landlock has no right for it. */
const ALWAYS = ["names, sizes and times of files outside of the grants can be seen with stat"];

const TERMINALS = "other terminals of the same user can be opened (/dev/pts is a bootstrap grant)";

/**
 * How far this kernel holds the seal. `limits` are documented and do not count against
 * `require_enforced`; `missing` does.
 */
export function fileLayerState(landlockAbi: number, policy: FilesystemPolicy): LayerState {
  if (landlockAbi < 1) {
    return {
      state: "not",
      missing: ["the kernel has no Landlock, or has it switched off (Linux 5.13)"],
      limits: [],
    };
  }
  const limits = LIMITS.filter(({ beforeAbi }) => landlockAbi < beforeAbi).map(({ text }) => text);
  const terminals = policy.noBootstrapReads ? [] : [TERMINALS];
  return { state: "enforced", missing: [], limits: [...limits, ...terminals, ...ALWAYS] };
}
