import type { Arch } from "../ffi/abi/arch.ts";
import type { FilterRule } from "../ffi/abi/syscall-filter.ts";
import { compileFilter } from "../ffi/calls/libseccomp.ts";
import { execFilter } from "../src/plan/exec-filter.ts";
import { SEAL_KINDS, sealFilter } from "../src/plan/file-filter.ts";
import { networkFilter } from "../src/plan/network-filter.ts";

/**
 * What the binary embeds: every filter that a run may need. Ports and paths are the supervisor's
 * business, so that there are no more than a dozen.
 */
export function filterFile(arch: Arch): string {
  const compiled = (...rules: readonly FilterRule[]): string =>
    compileFilter([...execFilter(), ...rules], arch).toString("base64");
  const sealed = SEAL_KINDS.flatMap((kind) => [
    [kind, compiled(...sealFilter(kind), ...networkFilter("unix"))] as const,
    [`${kind}-pinned`, compiled(...sealFilter(kind), ...networkFilter("pin"))] as const,
  ]);
  const filter = compiled();
  const pinned = compiled(...networkFilter("pin"));
  return JSON.stringify({ arch, filter, pinned, ...Object.fromEntries(sealed) });
}
