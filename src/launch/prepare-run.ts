import embeddedFilters from "../../build/exec-filter.json" with { type: "json" };
import { Capability, NetworkCapability } from "../../ffi/abi/process.ts";
import { isOpenDescriptor } from "../../ffi/calls/process.ts";
import { sealKind } from "../plan/file-filter.ts";
import { READ_DIR } from "../plan/file-rights.ts";
import type { FileSeal } from "../plan/file-seal.ts";
import { guardDomain } from "../plan/guard-domain.ts";
import type { HoleSurroundings } from "../plan/hole-surroundings.ts";
import type { KernelFeatures } from "../plan/kernel-features.ts";
import type { LandlockGrant, LandlockPlan, LaunchPlan } from "../plan/launch-plan.ts";
import { type LayerStates, layerStates } from "../plan/layer-states.ts";
import { networkLayerState } from "../plan/network-layer-state.ts";
import { type NetworkPin, withPorts } from "../plan/network-pin.ts";
import { bytesToText, textToBytes } from "../policy/byte-text.ts";
import type { Diagnostic } from "../policy/diagnostic.ts";
import type { NetworkPolicy, Policy } from "../policy/model.ts";
import { readCliNetwork } from "../policy/read-cli-network.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { type CallerState, variable } from "./caller-state.ts";
import { findCommand } from "./find-command.ts";
import { homeDirectory } from "./home-directory.ts";
import { type LoadedPolicy, loadPolicy, type PolicyContext } from "./load-policy.ts";
import { missingCommandHint } from "./missing-command.ts";
import { pinNetwork } from "./pin-network.ts";
import { probeKernel } from "./probe-kernel.ts";
import { type Refusal, refusal } from "./refusal.ts";

export interface RunRequest {
  readonly policy: string | null;
  readonly audit: string | null;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly allow: readonly string[];
  readonly explainDenials: boolean;
  readonly blockNet: boolean;
  readonly allowDomains: readonly string[];
  readonly denyDomains: readonly string[];
  readonly allowEndpoints: readonly string[];
  readonly argv: readonly string[];
  readonly keepFds: readonly number[];
}

export interface PreparedRun {
  readonly loaded: LoadedPolicy;
  readonly features: KernelFeatures;
  readonly layers: LayerStates;
  /** The policy's table with the flags of the command line; null where neither says anything. */
  readonly network: NetworkPolicy | null;
  /** Variables as the caller set them. */
  readonly env: (name: string) => string | undefined;
  readonly plan: LaunchPlan;
  readonly verifies: boolean;
  /** What the user should know although the run goes ahead. */
  readonly warnings: readonly Diagnostic[];
  /** One character a byte; empty where files are not sealed. */
  readonly writableTrees: readonly string[];
  /** What is done beside holes in place of the kernel; null where there are none. */
  readonly neighbours: Neighbours | null;
  /** What sockets are judged by; null where none are. */
  readonly pin: NetworkPin | null;
  /** The seal whose denials are to be told. */
  readonly explain: Explained | null;
}

const latin1 = (text: string): string => Buffer.from(textToBytes(text)).toString("latin1");

/**
 * argv to plan: everything that can be refused is refused here, before anything is started.
 * `policyLoaded` is told of the policy as soon as there is one: others have work to do with it.
 */
export async function prepareRun(
  request: RunRequest,
  caller: CallerState,
  policyLoaded: (policy: Policy) => void,
): Promise<Result<PreparedRun, Refusal>> {
  const closed = request.keepFds.find((fd) => !isOpenDescriptor(fd));
  if (closed !== undefined) {
    return err(refusal(125, `--keep-fd ${closed}: no descriptor of that number is open`));
  }
  const context = policyContext(caller);
  const loaded = loadPolicy(request.policy, { ...context, wantsWarnings: false });
  if (!loaded.ok) {
    const message = "the policy has errors, so nothing was started";
    return err({ exit: 125, message, hint: null, diagnostics: loaded.error });
  }
  policyLoaded(loaded.value.policy);
  const features = probeKernel();
  const searchPath = variable(caller.environment, "PATH");
  const sealed = await sealIfAsked(request, loaded.value, context, { features, searchPath });
  if (!sealed.ok) return sealed;
  const seal = sealed.value;
  const network = readCliNetwork(request, loaded.value.policy.network, context);
  if (!network.ok) {
    const message = "the network flags have errors, so nothing was started";
    return err({ exit: 125, message, hint: null, diagnostics: network.error });
  }
  const layers = layerStates(features, seal?.state, networkLayerState(features, network.value));
  const unenforced = requireEnforced(loaded.value, layers);
  if (unenforced !== null) return err(unenforced);
  const pinned = pinNetwork({
    network: network.value,
    state: layers.network,
    seal,
    keepFds: request.keepFds,
  });
  if (!pinned.ok) return pinned;
  const pin = pinned.value;
  const argv = request.argv.map(latin1);
  const program = findProgram(request.argv[0] ?? "", argv[0] ?? "", searchPath, seal);
  if (!program.ok) return program;
  const domain = seal?.landlock ?? guardDomain(features.landlockAbi);
  const plan: LaunchPlan = {
    supervisorPid: process.pid,
    path: program.value,
    argv,
    environment: caller.environment,
    ignoredSignals: caller.ignoredSignals,
    signalMaskHex: caller.signalMaskHex,
    keepFds: request.keepFds,
    dropCapabilities: capabilitiesToDrop(pin),
    landlock: domain === null ? null : withPorts(domain, pin, features.landlockAbi),
    filter: filterFor(request, seal, features, pin).toString("latin1"),
  };
  const verifies = features.ptraceRefusal === null;
  return ok({
    loaded: loaded.value,
    features,
    layers,
    network: network.value,
    env: context.env,
    plan,
    verifies,
    warnings: warningsOf(request, seal),
    writableTrees: seal?.landlock == null ? [] : seal.writable.map(latin1),
    neighbours: neighboursOf(seal),
    pin,
    explain: request.explainDenials ? explained(seal) : null,
  });
}

function capabilitiesToDrop(pin: NetworkPin | null): readonly number[] {
  const network = pin?.hold === "pin" ? Object.values(NetworkCapability) : [];
  return [...Object.values(Capability), ...network];
}

/** The path of what will be executed, one character a byte. */
function findProgram(
  name: string,
  word: string,
  searchPath: string | undefined,
  seal: Sealed | null,
): Result<string, Refusal> {
  const found = findCommand(word, searchPath);
  if (found.kind === "missing") {
    return err(refusal(127, `${name}: command not found`, missingCommandHint(name)));
  }
  if (found.kind === "not-executable") {
    return err(refusal(126, `${name}: permission denied: not an executable file`));
  }
  if (seal !== null && !seal.mayExecute(found.path)) return err(outsideGrants(name));
  return ok(found.path);
}

/** The environment as it really is: the runtime's own copy has lost what is not UTF-8. */
function policyContext({ environment }: CallerState): PolicyContext {
  const env = (name: string): string | undefined => {
    const value = variable(environment, latin1(name));
    return value === undefined ? undefined : bytesToText(Buffer.from(value, "latin1"));
  };
  return { env, home: homeDirectory(env("HOME"), process.getuid?.() ?? -1) };
}

function warningsOf({ explainDenials }: RunRequest, seal: FileSeal | null): readonly Diagnostic[] {
  if (seal !== null || !explainDenials) return seal?.warnings ?? [];
  const message = "--explain-denials has nothing to explain: no files are sealed";
  const hint = "add a [filesystem] table, or grant something with --read, --write or --allow";
  return [{ severity: "warning", code: "nothing-sealed", message, span: null, hint }];
}

type Explained = { readonly landlock: LandlockPlan } & Pick<FileSeal, "holes">;

/** One character a byte, like everything that the supervisor compares paths with. */
type Neighbours = {
  readonly surroundings: HoleSurroundings;
  readonly granted: readonly LandlockGrant[];
};

function neighboursOf(seal: FileSeal | null): Neighbours | null {
  if (seal?.landlock == null || seal.surroundings === null) return null;
  const { roots, rights, holes, closed } = seal.surroundings;
  return {
    surroundings: {
      roots: roots.map(latin1),
      rights: rights.map(({ path, bits }) => ({ path: latin1(path), bits })),
      holes: holes.map(latin1),
      closed: closed.map(latin1),
    },
    granted: seal.landlock.grants.filter(({ access }) => (access & ~READ_DIR) !== 0),
  };
}

function explained(seal: FileSeal | null): Explained | null {
  return seal?.landlock == null ? null : { landlock: seal.landlock, holes: seal.holes };
}

/** The filters were compiled when faraday was built. */
function filterFor(
  { explainDenials }: RunRequest,
  seal: FileSeal | null,
  { landlockAbi }: KernelFeatures,
  pin: NetworkPin | null,
): Buffer {
  const isPinned = pin?.hold === "pin";
  const open = isPinned ? "pinned" : "filter";
  if (seal === null || seal.landlock === null) return Buffer.from(embeddedFilters[open], "base64");
  const kind = sealKind(landlockAbi, { explains: explainDenials || seal.surroundings !== null });
  const name = isPinned ? (`${kind}-pinned` as const) : kind;
  return Buffer.from(embeddedFilters[name], "base64");
}

type Sealed = FileSeal & { readonly mayExecute: (program: string) => boolean };

/** Without a table and without a flag no file is sealed, and the code for it is not even loaded. */
async function sealIfAsked(
  request: RunRequest,
  loaded: LoadedPolicy,
  context: PolicyContext,
  machine: { readonly features: KernelFeatures; readonly searchPath: string | undefined },
): Promise<Result<Sealed | null, Refusal>> {
  const { read, write, allow, audit } = request;
  const hasFlags = read.length + write.length + allow.length > 0;
  if (loaded.policy.filesystem === null && !hasFlags) return ok(null);
  const { sealFiles, mayExecute } = await import("./seal-files.ts");
  const seal = sealFiles({
    // Who names what may be touched and no policy means that and nothing more.
    loaded: request.policy === null && hasFlags ? null : loaded,
    cli: { read, write, allow },
    context,
    audit,
    landlockAbi: machine.features.landlockAbi,
    isInstalled: (tool) =>
      request.argv[0]?.endsWith(tool) === true ||
      findCommand(tool, machine.searchPath).kind === "found",
  });
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
