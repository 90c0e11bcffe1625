import {
  SCOPE_ABSTRACT_UNIX_SOCKET,
  SCOPE_SIGNAL,
  SCOPES_SINCE_ABI,
} from "../../ffi/abi/landlock.ts";
import { byteString } from "../policy/byte-text.ts";
import type { Diagnostic } from "../policy/diagnostic.ts";
import { isEmbedded } from "../policy/embedded-name.ts";
import type { FilesystemPolicy } from "../policy/model.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { BOOTSTRAP_GRANTS } from "./bootstrap-grants.ts";
import { expandGrant, type TreeGrant } from "./expand-grant.ts";
import { TRUNCATE_SINCE_ABI } from "./file-filter.ts";
import { fileLayerState } from "./file-layer-state.ts";
import { bitsOf, FILE_RIGHT_BITS, type FileUse, handledRights, READ_DIR } from "./file-rights.ts";
import { findHoles, type Holes } from "./find-holes.ts";
import { type GrantRoot, grantRoots } from "./grant-roots.ts";
import { HoleMap } from "./hole-map.ts";
import type { HoleSurroundings, TreeRights } from "./hole-surroundings.ts";
import type { LandlockGrant, LandlockPlan } from "./launch-plan.ts";
import type { LayerState } from "./layer-states.ts";
import { isBeneath, type PathFacts } from "./path-facts.ts";

/** Each costs the kernel some memory and a start some microseconds. */
const GRANTS_MAX = 20_000;
/** Whoever may read the disk itself needs no file of it. Devices are granted by name. */
const APART = ["/dev"];
/**
 * Whoever may write kernel settings needs no other file: one of them names a program that the
 * kernel starts, as root and outside of every sandbox. What is meant is granted by name.
 */
const APART_TO_WRITE = ["/dev", "/proc", "/sys"];

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
  /** Those of them that somebody wrote into a policy or a flag, not those of embedded policies. */
  readonly askedWritable: readonly string[];
  /** Real paths of the holes, each with the glob it comes from. */
  readonly holes: readonly SealedHole[];
  /** Null where nothing that may be written has a hole in it. */
  readonly surroundings: HoleSurroundings | null;
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
  const written = found.filter(({ uses }) => uses.includes("write"));
  const writable = [...new Set(written.map(({ tree }) => tree.path))];
  const shared = written.filter(isShared).map(({ tree }) => tree.path);
  const context = { cwd, facts, writable, shared };
  const denied = findHoles(policy.deny, context);
  const unwritable = findHoles(policy.denyWrite, context);
  const errors = [...denied.errors, ...unwritable.errors];
  if (errors.length > 0) return err(errors);
  if (!policy.noBootstrapReads) found.push(...bootstrapRoots(facts));

  const grants = new GrantTable();
  // Before that some ways to open a file are refused, so that the others cannot be watched.
  const keepsSurroundings = landlockAbi >= TRUNCATE_SINCE_ABI;
  const seal = new Expander(facts, warnings, grants, { keepsSurroundings });
  const unread = new HoleMap(denied);
  const unexecuted = unread.plus(policy.noexec ? everyPlace(writable, facts) : [], "noexec");
  const both = joined(denied, unwritable);
  const unwritten = new HoleMap(both);
  for (const each of found) {
    const isApart = policy.noexec && !each.keepsExecute;
    seal.add(each, isApart ? ["read", "control"] : ["read", "control", "execute"], unread);
    if (isApart) seal.add(each, ["execute"], unexecuted);
    seal.add(each, ["write"], unwritten);
  }
  if (grants.size > GRANTS_MAX) return err([tooMany(grants.size)]);
  return ok({
    landlock: landlockAbi < 1 ? null : landlockPlan(grants, landlockAbi),
    state: fileLayerState(landlockAbi, policy),
    warnings,
    // A rule for a directory holds wherever else it is mounted.
    writable: everyPlace(seal.writable, facts),
    askedWritable: seal.askedWritable,
    holes: [...both.paths].map(([path, glob]) => ({ path, glob })),
    surroundings: surroundingsOf(seal, rightsOf(found, policy), both),
  });
}

/** What is written may not be started with `noexec`, and beside a hole everything is written. */
function rightsOf(found: readonly FoundRoot[], { noexec }: FilesystemPolicy): TreeRights[] {
  return found.map(({ tree, uses, keepsExecute }) => {
    const kept = uses.filter((use) => use !== "execute" || keepsExecute || !noexec);
    return { path: tree.path, bits: bitsOf(kept) };
  });
}

function surroundingsOf(
  { opened: roots, folding }: Expander,
  rights: readonly TreeRights[],
  holes: Holes,
): HoleSurroundings | null {
  if (roots.length === 0) return null;
  return {
    roots,
    rights,
    holes: [...holes.paths.keys(), ...APART_TO_WRITE],
    closed: [...holes.closed.keys(), ...folding],
  };
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
      if (isEmbedded(span?.file)) return;
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

/** What an embedded policy grants is the same for every run, but for the directory of the run. */
function isShared({ root }: FoundRoot): boolean {
  return isEmbedded(root?.grant.span?.file) && root?.grant.glob !== ".";
}

function everyPlace(paths: readonly string[], facts: PathFacts): string[] {
  return paths.flatMap((path) => [path, ...facts.otherPlaces(path)]);
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
  readonly askedWritable: string[] = [];
  /** Those that are written and have a hole in them. */
  readonly opened: string[] = [];
  /** Directories on the way to a hole where it has more names than anybody can tell. */
  readonly folding: string[] = [];
  readonly #facts: PathFacts;
  readonly #warnings: Diagnostic[];
  readonly #grants: GrantTable;
  readonly #keepsSurroundings: boolean;

  constructor(
    facts: PathFacts,
    warnings: Diagnostic[],
    grants: GrantTable,
    options: { readonly keepsSurroundings: boolean },
  ) {
    this.#keepsSurroundings = options.keepsSurroundings;
    this.#facts = facts;
    this.#warnings = warnings;
    this.#grants = grants;
  }

  /** Those of `wanted` that the root has, without these holes. */
  add({ tree, uses, root }: FoundRoot, wanted: readonly FileUse[], holes: HoleMap): void {
    const given = wanted.filter((use) => uses.includes(use));
    if (given.length === 0) return;
    // Listing a directory on the way shows names, which stat(2) shows anyway; `ls` must work.
    const wayBits = given.includes("read") ? READ_DIR : 0;
    const grant = { ...tree, bits: bitsOf(given) };
    const apart = (given.includes("write") ? APART_TO_WRITE : APART).filter(
      (path) => tree.path !== path && isBeneath(path, tree.path),
    );
    const left = apart.length === 0 ? holes : holes.plus(apart, "not part of a larger grant");
    const { grants, opened, swallowedBy } = expandGrant(grant, left, this.#facts, wayBits);
    for (const each of grants) this.#grants.add(each);
    if (root === null) return;
    if (given.includes("write")) {
      const paths = grants.map(({ path }) => path);
      this.writable.push(...paths);
      if (!isEmbedded(root.grant.span?.file)) this.askedWritable.push(...paths);
      const isKept = this.#keepsSurroundings && holes.leadsFrom(tree.path);
      if (isKept) {
        this.opened.push(tree.path);
        if (!isEmbedded(root.grant.span?.file)) this.askedWritable.push(tree.path);
      }
      const folding = isKept ? opened.filter(this.#facts.foldsCase) : [];
      this.folding.push(...folding);
      const isShut = (each: string): boolean => left.isClosed(each) || folding.includes(each);
      const closed = isKept ? opened.filter(isShut) : opened;
      if (closed.length > 0) this.#warn(root, "closed-directory", closedMessage(closed));
    }
    if (swallowedBy !== null && (given.includes("read") || given.includes("write"))) {
      const why = `lies in the hole "${swallowedBy}", so it grants nothing`;
      this.#warn(root, "swallowed-grant", `${root.key}: ${root.path} ${why}`);
    }
  }

  #warn(root: GrantRoot, code: string, message: string, hint: string | null = null): void {
    this.#warnings.push({ severity: "warning", code, message, span: root.grant.span, hint });
  }
}

function closedMessage(closed: readonly string[]): string {
  const shown = closed.slice(0, 3).join(", ");
  const more = closed.length > 3 ? ` and ${closed.length - 3} more` : "";
  const lost = "nothing can be created, removed or renamed directly in";
  return `a hole is inside, so ${lost} ${shown}${more}`;
}

function landlockPlan(grants: GrantTable, landlockAbi: number): LandlockPlan {
  const handledFs = handledRights(landlockAbi);
  const scoped = landlockAbi >= SCOPES_SINCE_ABI ? SCOPE_SIGNAL | SCOPE_ABSTRACT_UNIX_SOCKET : 0;
  return { handledFs, handledNet: 0, scoped, grants: grants.list(handledFs), ports: [] };
}

function joined(first: Holes, second: Holes): Holes {
  return {
    paths: new Map([...first.paths, ...second.paths]),
    closed: new Map([...first.closed, ...second.closed]),
  };
}

function tooMany(count: number): Diagnostic {
  const message = `${count} rules would be needed to leave the holes out; at most ${GRANTS_MAX}`;
  const hint = "grant smaller trees, or put the holes into directories with fewer files";
  return { severity: "error", code: "hole-not-held", message, span: null, hint };
}
