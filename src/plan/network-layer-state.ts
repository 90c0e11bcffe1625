import { NET_SINCE_ABI } from "../../ffi/abi/landlock.ts";
import type { NetworkPolicy } from "../policy/model.ts";
import type { KernelFeatures } from "./kernel-features.ts";
import type { LayerState } from "./layer-states.ts";

/** Without the pin the proxy holds those who ask it: that is documented, not a failure. */
const ADVISORY =
  "a program that ignores the proxy's variables reaches the network directly: " +
  "`kernel_pin = true` closes that";

/** True of the pin on every kernel. */
const ALWAYS = [
  "a socket that somebody outside hands to the command keeps its powers",
  "sockets of kinds that are not allowed are refused by the filter, without a record",
];

interface Gap {
  readonly isOpen: (features: KernelFeatures) => boolean;
  readonly text: string;
}

const LIMITS: readonly Gap[] = [
  {
    isOpen: ({ landlockAbi }) => landlockAbi < NET_SINCE_ABI,
    text: "the kernel has no second layer for TCP (Landlock ABI 4, Linux 6.7)",
  },
  {
    isOpen: ({ waitsKillable }) => !waitsKillable,
    text: "a signal during a connect may make it fail with EISCONN (Linux 5.19)",
  },
];

/**
 * How far this kernel holds the network, null where nothing was said of it; `missing` is fatal
 * under `require_enforced`.
 */
export function networkLayerState(
  features: KernelFeatures,
  network: NetworkPolicy | null,
): LayerState | null {
  if (network === null) return null;
  if (!network.kernelPin && !network.blockAll) {
    return { state: "partly", missing: [], limits: [ADVISORY] };
  }
  if (!features.takesDescriptors) {
    const missing = ["the kernel cannot hand sockets to the supervisor (pidfd_getfd, Linux 5.6)"];
    return { state: "not", missing, limits: [] };
  }
  const limits = LIMITS.filter(({ isOpen }) => isOpen(features)).map(({ text }) => text);
  return { state: "enforced", missing: [], limits: [...limits, ...ALWAYS] };
}
