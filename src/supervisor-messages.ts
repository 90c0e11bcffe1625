import type { Launcher } from "./launch/spawn-launcher.ts";
import type { Policy } from "./policy/model.ts";
import type { SessionConfig, SessionResult } from "./supervise/session.ts";

/** Main thread to Worker: the policy as soon as it is read, then the order, once each. */
export type WorkerMessage =
  | { readonly kind: "policy"; readonly policy: Policy }
  | ({ readonly kind: "order" } & WorkerOrder);

export interface WorkerOrder {
  readonly launcher: Launcher;
  readonly session: SessionConfig;
  /** True if a run in which nothing was denied leaves the main thread nothing to do. */
  readonly mayEndRun: boolean;
}

/** Worker to main thread: how it all ended. */
export type WorkerReport =
  | { readonly kind: "launch-failed"; readonly message: string }
  | { readonly kind: "crashed"; readonly message: string }
  | {
      readonly kind: "ended";
      readonly result: SessionResult;
      /** Set if the command itself could not be executed. */
      readonly execErrno: number | null;
    };
