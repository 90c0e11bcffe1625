import embeddedFilter from "../../build/exec-filter.json" with { type: "json" };
import { Capability } from "../../ffi/abi/process.ts";
import { guardDomain } from "../plan/guard-domain.ts";
import type { KernelFeatures } from "../plan/kernel-features.ts";
import type { LaunchPlan } from "../plan/launch-plan.ts";
import { type LayerStates, layerStates } from "../plan/layer-states.ts";
import { textToBytes } from "../policy/byte-text.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { type CallerState, variable } from "./caller-state.ts";
import { findCommand } from "./find-command.ts";
import { type LoadedPolicy, loadPolicy } from "./load-policy.ts";
import { probeKernel } from "./probe-kernel.ts";
import { type Refusal, refusal } from "./refusal.ts";

export interface RunRequest {
  readonly policy: string | null;
  readonly argv: readonly string[];
  readonly keepFds: readonly number[];
}

export interface PreparedRun {
  readonly loaded: LoadedPolicy;
  readonly features: KernelFeatures;
  readonly layers: LayerStates;
  readonly plan: LaunchPlan;
  readonly verifies: boolean;
}

const latin1 = (text: string): string => Buffer.from(textToBytes(text)).toString("latin1");

/** argv to plan: everything that can be refused is refused here, before anything is started. */
export function prepareRun(request: RunRequest, caller: CallerState): Result<PreparedRun, Refusal> {
  const loaded = loadPolicy(request.policy, {
    env: (name) => process.env[name],
    home: process.env["HOME"],
  });
  if (!loaded.ok) {
    const message = "the policy has errors, so nothing was started";
    return err({ exit: 125, message, hint: null, diagnostics: loaded.error });
  }
  const features = probeKernel();
  const layers = layerStates(features);
  const unenforced = requireEnforced(loaded.value, layers);
  if (unenforced !== null) return err(unenforced);
  const argv = request.argv.map(latin1);
  const found = findCommand(argv[0] ?? "", variable(caller.environment, "PATH"));
  if (found.kind === "missing") {
    return err(refusal(127, `${request.argv[0]}: command not found`));
  }
  if (found.kind === "not-executable") {
    return err(refusal(126, `${request.argv[0]}: permission denied: not an executable file`));
  }
  const plan: LaunchPlan = {
    supervisorPid: process.pid,
    path: found.path,
    argv,
    environment: caller.environment,
    ignoredSignals: caller.ignoredSignals,
    signalMaskHex: caller.signalMaskHex,
    keepFds: request.keepFds,
    dropCapabilities: Object.values(Capability),
    landlock: guardDomain(features.landlockAbi),
    filter: Buffer.from(embeddedFilter.filter, "base64").toString("latin1"),
  };
  const verifies = features.ptraceRefusal === null;
  return ok({ loaded: loaded.value, features, layers, plan, verifies });
}

/** A layer that is asked for and cannot be had ends the run, unless the policy says otherwise. */
function requireEnforced({ policy }: LoadedPolicy, layers: LayerStates): Refusal | null {
  if (policy.filesystem?.requireEnforced === false) return null;
  const { exec } = layers;
  if (exec.state === "enforced") return null;
  return refusal(
    126,
    `the exec gate cannot be enforced here: ${exec.missing.join("; ")}`,
    "allow ptrace, or accept verdicts that can be raced with `[filesystem] require_enforced = false`",
  );
}
