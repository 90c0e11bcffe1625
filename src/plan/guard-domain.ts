import { fsRightBit, SCOPE_SIGNAL, SCOPES_SINCE_ABI } from "../../ffi/abi/landlock.ts";
import type { LandlockPlan } from "./launch-plan.ts";

const REFER_SINCE_ABI = 2;

/**
 * The Landlock domain of a policy that seals no files. Any domain keeps the agent from tracing and
 * reading processes outside it, the supervisor first of all; since ABI 6 from signalling them too.
 */
export function guardDomain(landlockAbi: number): LandlockPlan | null {
  if (landlockAbi >= SCOPES_SINCE_ABI) {
    return { handledFs: 0, handledNet: 0, scoped: SCOPE_SIGNAL, grants: [], ports: [] };
  }
  // A domain has to handle something. Without REFER it would forbid every rename between
  // directories, and ABI 1 cannot grant that.
  if (landlockAbi < REFER_SINCE_ABI) return null;
  const refer = fsRightBit("refer");
  const grants = [{ path: "/", access: refer }];
  return { handledFs: refer, handledNet: 0, scoped: 0, grants, ports: [] };
}
