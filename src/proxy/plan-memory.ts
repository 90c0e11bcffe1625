import type { RequestPlan } from "./request-plan.ts";

export interface PlannedRequest {
  readonly plan: RequestPlan;
  /** The client would send another request over the same connection. */
  readonly wantsMore: boolean;
}

const PLANS_MAX = 64;
const HEAD_CHARACTERS_MAX = 1024;

/**
 * What the heads of tunnels came to. A program opens its next tunnel to a host with the very same
 * bytes, and the same bytes under the same policy come to the same.
 */
export class PlanMemory {
  readonly #plans = new Map<string, PlannedRequest>();

  recall(head: string): PlannedRequest | null {
    return this.#plans.get(head) ?? null;
  }

  keep(head: string, planned: PlannedRequest): void {
    if (planned.plan.kind !== "tunnel" || head.length > HEAD_CHARACTERS_MAX) return;
    if (this.#plans.size >= PLANS_MAX) this.#plans.clear();
    this.#plans.set(head, planned);
  }
}
