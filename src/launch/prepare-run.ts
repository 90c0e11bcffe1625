import embeddedFilters from "../../build/exec-filter.json" with { type: "json" };
import { Capability } from "../../ffi/abi/process.ts";
import { isOpenDescriptor } from "../../ffi/calls/process.ts";
import { sealKind } from "../plan/file-filter.ts";
import type { FileSeal } from "../plan/file-seal.ts";
import { guardDomain } from "../plan/guard-domain.ts";
import type { KernelFeatures } from "../plan/kernel-features.ts";
import type { LandlockPlan, LaunchPlan } from "../plan/launch-plan.ts";
import { type LayerStates, layerStates } from "../plan/layer-states.ts";
import { bytesToText, textToBytes } from "../policy/byte-text.ts";
import type { Diagnostic } from "../policy/diagnostic.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { type CallerState, variable } from "./caller-state.ts";
import { findCommand } from "./find-command.ts";
import { type LoadedPolicy, loadPolicy, type PolicyContext } from "./load-policy.ts";
import { probeKernel } from "./probe-kernel.ts";
import { type Refusal, refusal } from "./refusal.ts";

export interface RunRequest {
  readonly policy: string | null;
  readonly audit: string | null;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly allow: readonly string[];
  readonly explainDenials: boolean;
  readonly argv: readonly string[];
  readonly keepFds: readonly number[];
}

export interface PreparedRun {
  readonly loaded: LoadedPolicy;
  readonly features: KernelFeatures;
  readonly layers: LayerStates;
  readonly plan: LaunchPlan;
  readonly verifies: boolean;
  /** What the user should know although the run goes ahead. */
  readonly warnings: readonly Diagnostic[];
  /** One character a byte; empty where files are not sealed. */
  readonly writableTrees: readonly string[];
  /** The seal whose denials are to be told. */
  readonly explain: Explained | null;
}

const latin1 = (text: string): string => Buffer.from(textToBytes(text)).toString("latin1");

/** argv to plan: everything that can be refused is refused here, before anything is started. */
export async function prepareRun(
  request: RunRequest,
  caller: CallerState,
): Promise<Result<PreparedRun, Refusal>> {
  const closed = request.keepFds.find((fd) => !isOpenDescriptor(fd));
  if (closed !== undefined) {
    return err(refusal(125, `--keep-fd ${closed}: no descriptor of that number is open`));
  }
  const context = policyContext(caller);
  const loaded = loadPolicy(request.policy, context);
  if (!loaded.ok) {
    const message = "the policy has errors, so nothing was started";
    return err({ exit: 125, message, hint: null, diagnostics: loaded.error });
  }
  const features = probeKernel();
  const sealed = await sealIfAsked(request, loaded.value, context, features);
  if (!sealed.ok) return sealed;
  const seal = sealed.value;
  const layers = layerStates(features, seal?.state);
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
  if (seal !== null && !seal.mayExecute(found.path)) {
    return err(outsideGrants(request.argv[0] ?? ""));
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
    landlock: seal?.landlock ?? guardDomain(features.landlockAbi),
    filter: filterFor(request, seal, features).toString("latin1"),
  };
  const verifies = features.ptraceRefusal === null;
  return ok({
    loaded: loaded.value,
    features,
    layers,
    plan,
    verifies,
    warnings: warningsOf(request, seal),
    writableTrees: seal?.landlock == null ? [] : seal.writable.map(latin1),
    explain: request.explainDenials ? explained(seal) : null,
  });
}

/** The environment as it really is: the runtime's own copy has lost what is not UTF-8. */
function policyContext({ environment }: CallerState): PolicyContext {
  const env = (name: string): string | undefined => {
    const value = variable(environment, latin1(name));
    return value === undefined ? undefined : bytesToText(Buffer.from(value, "latin1"));
  };
  return { env, home: env("HOME") };
}

function warningsOf({ explainDenials }: RunRequest, seal: FileSeal | null): readonly Diagnostic[] {
  if (seal !== null || !explainDenials) return seal?.warnings ?? [];
  const message = "--explain-denials has nothing to explain: no files are sealed";
  const hint = "add a [filesystem] table, or grant something with --read, --write or --allow";
  return [{ severity: "warning", code: "nothing-sealed", message, span: null, hint }];
}

type Explained = { readonly landlock: LandlockPlan } & Pick<FileSeal, "holes">;

function explained(seal: FileSeal | null): Explained | null {
  return seal?.landlock == null ? null : { landlock: seal.landlock, holes: seal.holes };
}

/** The filters were compiled when faraday was built. */
function filterFor(
  { explainDenials }: RunRequest,
  seal: FileSeal | null,
  { landlockAbi }: KernelFeatures,
): Buffer {
  const isSealed = seal !== null && seal.landlock !== null;
  const kind = isSealed ? sealKind(landlockAbi, { explains: explainDenials }) : "filter";
  return Buffer.from(embeddedFilters[kind], "base64");
}

type Sealed = FileSeal & { readonly mayExecute: (program: string) => boolean };

/** Without a table and without a flag no file is sealed, and the code for it is not even loaded. */
async function sealIfAsked(
  request: RunRequest,
  loaded: LoadedPolicy,
  context: PolicyContext,
  features: KernelFeatures,
): Promise<Result<Sealed | null, Refusal>> {
  const { read, write, allow, audit } = request;
  const isAsked =
    loaded.policy.filesystem !== null || read.length + write.length + allow.length > 0;
  if (!isAsked) return ok(null);
  const { sealFiles, mayExecute } = await import("./seal-files.ts");
  const { landlockAbi } = features;
  const cli = { read, write, allow };
  const seal = sealFiles({ loaded, cli, context, audit, landlockAbi });
  if (!seal.ok) return seal;
  return ok({ ...seal.value, mayExecute: (program) => mayExecute(seal.value, program) });
}

function outsideGrants(name: string): Refusal {
  return refusal(
    126,
    `${name}: permission denied: the policy's file grants do not cover the program`,
    "grant the directory it lies in with `--read DIRECTORY` or `read_globs`",
  );
}

/** A layer that is asked for and cannot be had ends the run, unless the policy says otherwise. */
function requireEnforced({ policy }: LoadedPolicy, layers: LayerStates): Refusal | null {
  if (policy.filesystem?.requireEnforced === false) return null;
  const { exec } = layers;
  if (exec.state === "enforced") return null;
  return refusal(
    126,
    `the exec gate cannot be enforced here: ${exec.missing.join("; ")}`,
    "allow ptrace: kernel.yama.ptrace_scope must be 0 or 1, or CAP_SYS_PTRACE be there",
  );
}
