import type { LaunchPlan } from "./plan/launch-plan.ts";
import type { SessionConfig, SessionResult } from "./supervise/session.ts";

/** Main thread to Worker, once. */
export interface WorkerOrder {
  readonly plan: LaunchPlan;
  readonly session: SessionConfig;
}

/** Worker to main thread: first that the launcher is there, at last how it all ended. */
export type WorkerReport =
  | { readonly kind: "started"; readonly pid: number }
  | { readonly kind: "launch-failed"; readonly message: string }
  | {
      readonly kind: "ended";
      readonly result: SessionResult;
      /** Set if the command itself could not be executed. */
      readonly execErrno: number | null;
    };
