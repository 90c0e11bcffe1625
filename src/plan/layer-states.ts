import type { KernelFeatures } from "./kernel-features.ts";

export interface LayerState {
  readonly state: "enforced" | "partly" | "not" | "off";
  /** What was asked for and cannot be had: fatal under `require_enforced`. */
  readonly missing: readonly string[];
  /** What the layer leaves open on this kernel, as documented. */
  readonly limits: readonly string[];
}

export interface LayerStates {
  readonly exec: LayerState;
  readonly supervisor: LayerState;
  readonly files: LayerState;
  readonly network: LayerState;
}

const OFF: LayerState = { state: "off", missing: [], limits: [] };

/** What is enforced of each layer on this kernel; callers decide what to do about the rest. */
export function layerStates(
  features: KernelFeatures,
  files: LayerState | null = null,
  network: LayerState | null = null,
): LayerStates {
  return {
    exec:
      features.ptraceRefusal === null
        ? { state: "enforced", missing: [], limits: [] }
        : {
            state: "partly",
            missing: [`exec verification: ${features.ptraceRefusal}`],
            limits: [],
          },
    supervisor: supervisorState(features.landlockAbi),
    files: files ?? OFF,
    network: network ?? OFF,
  };
}

/** How well the supervisor is kept apart from the agent; a hole here ends the run, no more. */
function supervisorState(landlockAbi: number): LayerState {
  if (landlockAbi >= 6) return { state: "enforced", missing: [], limits: [] };
  const signals = "the command can signal its supervisor, which ends the run (Linux 6.12 has more)";
  if (landlockAbi >= 2) return { state: "partly", missing: [signals], limits: [] };
  return {
    state: "partly",
    missing: [signals, "no Landlock domain keeps the command from its supervisor (Linux 5.19)"],
    limits: [],
  };
}
