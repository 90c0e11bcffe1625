import type { Holes } from "./find-holes.ts";
import { isBeneath, joinPath, type PathFacts } from "./path-facts.ts";

/** One right over one tree. Paths are real. */
export interface TreeGrant {
  readonly path: string;
  readonly isDirectory: boolean;
  readonly bits: number;
}

export interface ExpandedGrant {
  /** In place of the grant; empty if it lies in a hole. */
  readonly grants: readonly TreeGrant[];
  /** The directories on the way to a hole: only what is in them now is granted. */
  readonly opened: readonly string[];
  /** The hole that the whole grant lies in. */
  readonly swallowedBy: string | null;
}

/**
 * Takes holes out of a tree. Landlock cannot subtract, so a directory with a hole below it is not
 * granted; its other entries are, one by one. `wayBits` are the rights that such a directory keeps,
 * which must be harmless even inside the holes.
 */
export function expandGrant(
  grant: TreeGrant,
  holes: Holes,
  facts: PathFacts,
  wayBits: number,
): ExpandedGrant {
  if (holes.paths.size === 0 && holes.closed.size === 0) {
    return { grants: [grant], opened: [], swallowedBy: null };
  }
  for (const [path, glob] of holes.paths) {
    if (isBeneath(grant.path, path)) return { grants: [], opened: [], swallowedBy: glob };
  }
  const grants: TreeGrant[] = [];
  const opened: string[] = [];
  const visit = (tree: TreeGrant, inside: readonly string[]): void => {
    const below = inside.filter((path) => isBeneath(path, tree.path));
    if (below.length === 0) {
      grants.push(tree);
      return;
    }
    // A hole itself, or something that is not there to be granted in parts.
    if (holes.paths.has(tree.path) || !tree.isDirectory) return;
    opened.push(tree.path);
    if (wayBits !== 0) grants.push({ ...tree, bits: wayBits });
    for (const { name, kind } of facts.list(tree.path) ?? []) {
      // A link needs no grant: what it points to has one, or is not granted.
      if (kind === "link") continue;
      const path = joinPath(tree.path, name);
      visit({ path, isDirectory: kind === "directory", bits: tree.bits }, below);
    }
  };
  visit(grant, [...holes.paths.keys(), ...holes.closed.keys()]);
  return { grants, opened, swallowedBy: null };
}
