import {
  SCOPE_ABSTRACT_UNIX_SOCKET,
  SCOPE_SIGNAL,
  SCOPES_SINCE_ABI,
} from "../../ffi/abi/landlock.ts";
import { textToBytes } from "../policy/byte-text.ts";
import type { Diagnostic } from "../policy/diagnostic.ts";
import type { FilesystemPolicy } from "../policy/model.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { BOOTSTRAP_GRANTS } from "./bootstrap-grants.ts";
import { expandGrant, type TreeGrant } from "./expand-grant.ts";
import { fileLayerState } from "./file-layer-state.ts";
import { FILE_RIGHT_BITS, type FileUse, handledRights, READ_DIR, USE_BITS } from "./file-rights.ts";
import { findHoles, type Holes } from "./find-holes.ts";
import { type GrantRoot, grantRoots } from "./grant-roots.ts";
import type { LandlockGrant, LandlockPlan } from "./launch-plan.ts";
import type { LayerState } from "./layer-states.ts";
import { isBeneath, type PathFacts } from "./path-facts.ts";

/** Each costs the kernel some memory and a start some microseconds. */
const GRANTS_MAX = 20_000;
const DEVICES = "/dev";

export interface SealRequest {
  readonly policy: FilesystemPolicy;
  readonly landlockAbi: number;
  /** The directory that Faraday was started in: what `.` and relative globs stand for. */
  readonly cwd: string;
  readonly facts: PathFacts;
}

export interface FileSeal {
  /** Null where the kernel has no Landlock: then the layer's state is `not`. */
  readonly landlock: LandlockPlan | null;
  readonly state: LayerState;
  readonly warnings: readonly Diagnostic[];
  /** Real paths that the policy lets the agent write to or below. */
  readonly writable: readonly string[];
  /** Real paths of the holes, each with the glob it comes from. */
  readonly holes: readonly SealedHole[];
}

export interface SealedHole {
  readonly path: string;
  readonly glob: string;
}

/** A grant whose path has been looked up. */
interface FoundRoot {
  readonly tree: Omit<TreeGrant, "bits">;
  readonly uses: readonly FileUse[];
  readonly keepsExecute: boolean;
  /** Null for a bootstrap grant. */
  readonly root: GrantRoot | null;
}

/** From a policy to the Landlock rules that hold it, or the reasons why none can. */
export function fileSeal(request: SealRequest): Result<FileSeal, readonly Diagnostic[]> {
  const { policy, landlockAbi, cwd, facts } = request;
  const { roots, warnings: widened } = grantRoots(policy, cwd);
  const warnings = [...widened];
  const found = findRoots(roots, facts, warnings);
  const writable = [
    ...new Set(found.filter(({ uses }) => uses.includes("write")).map(({ tree }) => tree.path)),
  ];
  const context = { cwd, facts, writable };
  const denied = findHoles(policy.deny, context);
  const unwritable = findHoles(policy.denyWrite, context);
  const errors = [...denied.errors, ...unwritable.errors];
  if (errors.length > 0) return err(errors);
  if (!policy.noBootstrapReads) found.push(...bootstrapRoots(facts));

  const grants = new GrantTable();
  const seal = new Expander(facts, warnings, grants);
  const written = writable.flatMap((path) => [path, ...facts.otherPlaces(path)]);
  const noexec = policy.noexec ? withPaths(denied, written, "noexec") : denied;
  const unwritten = joined(denied, unwritable);
  for (const each of found) {
    const isApart = policy.noexec && !each.keepsExecute;
    seal.add(each, isApart ? ["read", "control"] : ["read", "control", "execute"], denied);
    if (isApart) seal.add(each, ["execute"], noexec);
    seal.add(each, ["write"], unwritten);
  }
  if (grants.size > GRANTS_MAX) return err([tooMany(grants.size)]);
  return ok({
    landlock: landlockAbi < 1 ? null : landlockPlan(grants, landlockAbi),
    state: fileLayerState(landlockAbi, policy),
    warnings,
    writable: seal.writable,
    holes: [...unwritten.paths].map(([path, glob]) => ({ path, glob })),
  });
}

function findRoots(
  roots: readonly GrantRoot[],
  facts: PathFacts,
  warnings: Diagnostic[],
): FoundRoot[] {
  return roots.flatMap((root) => {
    const fact = facts.look(root.path);
    const { span } = root.grant;
    const warn = (code: string, message: string, hint: string | null): void => {
      // An embedded policy names what many machines have, not what this one must have.
      if (span?.file.startsWith("builtin:") === true) return;
      warnings.push({ severity: "warning", code, message, span, hint });
    };
    if (fact.kind === "missing" || fact.kind === "unreachable") {
      const state = fact.kind === "missing" ? "does not exist" : "cannot be reached";
      const hint = root.isTree
        ? "create it first, or have it created with `create_missing = true`"
        : "create it first";
      warn("missing-grant", `${root.key}: ${root.path} ${state}, so it grants nothing`, hint);
      return [];
    }
    if (fact.realPath !== root.path) {
      const message = `${root.key}: ${root.path} is a link, so ${fact.realPath} is granted`;
      warn("linked-grant", message, null);
    }
    const tree = { path: fact.realPath, isDirectory: fact.kind === "directory" };
    return { tree, uses: root.uses, keepsExecute: root.keepsExecute, root };
  });
}

function bootstrapRoots(facts: PathFacts): FoundRoot[] {
  return BOOTSTRAP_GRANTS.flatMap(({ path, uses }) => {
    const { kind, realPath } = facts.look(path);
    if (kind !== "directory" && kind !== "file") return [];
    const tree = { path: realPath, isDirectory: kind === "directory" };
    return { tree, uses, keepsExecute: false, root: null };
  });
}

/** Rights by path; the rights of two grants for one path add up, as they do in the kernel. */
class GrantTable {
  readonly #bits = new Map<string, { bits: number; isDirectory: boolean }>();

  get size(): number {
    return this.#bits.size;
  }

  add({ path, isDirectory, bits }: TreeGrant): void {
    const known = this.#bits.get(path);
    if (known === undefined) this.#bits.set(path, { bits, isDirectory });
    else known.bits |= bits;
  }

  list(handled: number): LandlockGrant[] {
    const grants: LandlockGrant[] = [];
    for (const [path, { bits, isDirectory }] of this.#bits) {
      const access = bits & handled & (isDirectory ? -1 : FILE_RIGHT_BITS);
      // The kernel refuses an empty rule.
      if (access !== 0) grants.push({ path: byteString(path), access });
    }
    return grants;
  }
}

/** Takes the holes out of each use of a grant, and collects what is left. */
class Expander {
  readonly writable: string[] = [];
  readonly #facts: PathFacts;
  readonly #warnings: Diagnostic[];
  readonly #grants: GrantTable;

  constructor(facts: PathFacts, warnings: Diagnostic[], grants: GrantTable) {
    this.#facts = facts;
    this.#warnings = warnings;
    this.#grants = grants;
  }

  /** Those of `wanted` that the root has, without these holes. */
  add({ tree, uses, root }: FoundRoot, wanted: readonly FileUse[], holes: Holes): void {
    const given = wanted.filter((use) => uses.includes(use));
    if (given.length === 0) return;
    const bits = given.reduce((sum, use) => sum | USE_BITS[use], 0);
    // Listing a directory on the way shows names, which stat(2) shows anyway; `ls` must work.
    const wayBits = given.includes("read") ? READ_DIR : 0;
    const grant = { ...tree, bits };
    // Whoever may read the disk itself needs no file of it. Devices are granted by name.
    const isAbove = tree.path !== DEVICES && isBeneath(DEVICES, tree.path);
    const left = isAbove ? withPaths(holes, [DEVICES], DEVICES) : holes;
    const { grants, opened, swallowedBy } = expandGrant(grant, left, this.#facts, wayBits);
    for (const each of grants) this.#grants.add(each);
    if (root === null) return;
    if (given.includes("write")) {
      this.writable.push(...grants.map(({ path }) => path));
      if (opened.length > 0) this.#warn(root, "closed-directory", closedMessage(opened));
    }
    if (swallowedBy !== null && (given.includes("read") || given.includes("write"))) {
      const why = `lies in the hole "${swallowedBy}", so it grants nothing`;
      this.#warn(root, "swallowed-grant", `${root.key}: ${root.path} ${why}`);
    }
  }

  #warn(root: GrantRoot, code: string, message: string): void {
    this.#warnings.push({ severity: "warning", code, message, span: root.grant.span, hint: null });
  }
}

function closedMessage(opened: readonly string[]): string {
  const shown = opened.slice(0, 3).join(", ");
  const more = opened.length > 3 ? ` and ${opened.length - 3} more` : "";
  const lost = "nothing can be created, removed or renamed directly in";
  return `a hole is inside, so ${lost} ${shown}${more}`;
}

function landlockPlan(grants: GrantTable, landlockAbi: number): LandlockPlan {
  const handledFs = handledRights(landlockAbi);
  const scoped = landlockAbi >= SCOPES_SINCE_ABI ? SCOPE_SIGNAL | SCOPE_ABSTRACT_UNIX_SOCKET : 0;
  return { handledFs, handledNet: 0, scoped, grants: grants.list(handledFs) };
}

function withPaths(holes: Holes, paths: readonly string[], because: string): Holes {
  const more = paths.map((path) => [path, because] as const);
  return { paths: new Map([...holes.paths, ...more]), closed: holes.closed };
}

function joined(first: Holes, second: Holes): Holes {
  return {
    paths: new Map([...first.paths, ...second.paths]),
    closed: new Map([...first.closed, ...second.closed]),
  };
}

const ASCII = /^[\x20-\x7e]*$/;

function byteString(text: string): string {
  if (ASCII.test(text)) return text;
  return Array.from(textToBytes(text), (byte) => String.fromCharCode(byte)).join("");
}

function tooMany(count: number): Diagnostic {
  const message = `${count} rules would be needed to leave the holes out; at most ${GRANTS_MAX}`;
  const hint = "grant smaller trees, or put the holes into directories with fewer files";
  return { severity: "error", code: "hole-not-held", message, span: null, hint };
}
