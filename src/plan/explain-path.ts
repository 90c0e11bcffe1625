import { type FsRight, fsRightBit } from "../../ffi/abi/landlock.ts";
import { byteString } from "../policy/byte-text.ts";
import type { Span } from "../policy/diagnostic.ts";
import type { FilesystemPolicy } from "../policy/model.ts";
import { BOOTSTRAP_GRANTS } from "./bootstrap-grants.ts";
import { SealReader, suggestGrant } from "./file-needs.ts";
import type { FileUse } from "./file-rights.ts";
import type { FileSeal } from "./file-seal.ts";
import { grantRoots } from "./grant-roots.ts";
import { SurroundingsMap } from "./hole-surroundings.ts";
import { absolutePath, isBeneath, type PathFacts } from "./path-facts.ts";

export type PathAccess = "read" | "write" | "execute";

export interface PathQuestion {
  readonly path: string;
  readonly access: PathAccess;
  readonly policy: FilesystemPolicy;
  /** Made from the same policy, with Landlock. */
  readonly seal: FileSeal;
  readonly cwd: string;
  readonly facts: PathFacts;
}

/** What decides, in the words of the policy. */
export type PathReason =
  | {
      readonly kind: "grant";
      readonly key: string;
      readonly glob: string;
      readonly span: Span | null;
    }
  | { readonly kind: "bootstrap"; readonly path: string }
  | {
      readonly kind: "hole";
      readonly key: string;
      readonly glob: string;
      readonly span: Span | null;
    }
  | { readonly kind: "beside-hole"; readonly directory: string }
  | { readonly kind: "not-granted" };

export interface PathAnswer {
  readonly action: "allow" | "deny";
  readonly realPath: string;
  readonly exists: boolean;
  /** The Landlock rights that are missing. */
  readonly missing: readonly FsRight[];
  readonly reason: PathReason;
  /** The line of `[filesystem]` that would allow it; null if none would. */
  readonly change: string | null;
}

/** Says whether the seal lets a file be read or written, and what in the policy decides that. */
export function explainPath(question: PathQuestion): PathAnswer {
  const { seal, facts, access } = question;
  if (seal.landlock === null) throw new Error("there is no seal to explain");
  const fact = facts.look(absolutePath(question.path, question.cwd));
  const exists = fact.kind === "file" || fact.kind === "directory";
  const { realPath } = fact;
  const isEntry = access === "write" && fact.kind !== "file";
  // To create a file is to write its directory.
  const place = isEntry && !exists ? parentOf(realPath) : realPath;
  const rights = rightsFor(access, { isEntry, isDirectory: fact.kind === "directory" });
  const need = { path: byteString(place), rights, isParent: isEntry };
  const missing = new SealReader(seal.landlock).missing(need);
  const hole = holeOver(question, realPath);
  const base = { realPath, exists, missing };
  const granted = coveringGrant(question, place);
  if (hole === null && (missing.length === 0 || isKeptOpen(question, realPath, place))) {
    return { ...base, action: "allow", missing: [], reason: granted, change: null };
  }
  if (hole !== null) return { ...base, action: "deny", reason: hole, change: null };
  if (granted.kind !== "not-granted") {
    const reason: PathReason = { kind: "beside-hole", directory: place };
    return { ...base, action: "deny", reason, change: null };
  }
  const { key, glob } = suggestGrant({ ...need, path: place, rights: missing });
  const change = `${key} = [${JSON.stringify(glob)}]`;
  return { ...base, action: "deny", reason: { kind: "not-granted" }, change };
}

/** Whether the supervisor does beside a hole what the kernel's rules do not reach. */
function isKeptOpen({ seal, access }: PathQuestion, realPath: string, place: string): boolean {
  if (seal.surroundings === null || access === "execute") return false;
  const map = new SurroundingsMap(seal.surroundings);
  if (map.rootOf(realPath) === null) return false;
  if (access !== "read") return !map.isClosed(place);
  return (map.rightsAt(realPath) & fsRightBit("read_file")) !== 0;
}

function rightsFor(
  access: PathAccess,
  what: { readonly isEntry: boolean; readonly isDirectory: boolean },
): readonly FsRight[] {
  if (access === "read") return [what.isDirectory ? "read_dir" : "read_file"];
  if (access === "execute") return ["execute"];
  return what.isEntry ? ["make_reg", "write_file"] : ["write_file", "truncate"];
}

const KEY_OF_USE: Readonly<Record<PathAccess, FileUse>> = {
  read: "read",
  write: "write",
  execute: "execute",
};

/** The nearest grant above a place that is for this use. */
function coveringGrant({ policy, cwd, facts, access }: PathQuestion, place: string): PathReason {
  const use = KEY_OF_USE[access];
  let best: { path: string; reason: PathReason } | null = null;
  for (const { path, uses, key, grant } of grantRoots(policy, cwd).roots) {
    const real = facts.look(path).realPath;
    if (!uses.includes(use) || !isBeneath(place, real)) continue;
    if (best !== null && best.path.length >= real.length) continue;
    const { glob, span } = grant;
    best = { path: real, reason: { kind: "grant", key: `${key}_globs`, glob, span } };
  }
  if (best !== null) return best.reason;
  if (policy.noBootstrapReads) return { kind: "not-granted" };
  const given = BOOTSTRAP_GRANTS.find(
    ({ path, uses }) => uses.includes(use) && isBeneath(place, facts.look(path).realPath),
  );
  return given === undefined ? { kind: "not-granted" } : { kind: "bootstrap", path: given.path };
}

function holeOver({ policy, seal, access }: PathQuestion, realPath: string): PathReason | null {
  const hole = seal.holes.find(({ path }) => isBeneath(realPath, path));
  if (hole === undefined) return null;
  const denied = policy.deny.find(({ glob }) => glob === hole.glob);
  if (denied !== undefined) return { kind: "hole", key: "deny_globs", ...denied };
  const unwritable = policy.denyWrite.find(({ glob }) => glob === hole.glob);
  if (unwritable === undefined || access !== "write") return null;
  return { kind: "hole", key: "deny_write_globs", ...unwritable };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0)) || "/";
}
