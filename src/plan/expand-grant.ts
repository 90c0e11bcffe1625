import type { HoleMap } from "./hole-map.ts";
import { joinPath, type PathFacts } from "./path-facts.ts";

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
  holes: HoleMap,
  facts: PathFacts,
  wayBits: number,
): ExpandedGrant {
  const swallowedBy = holes.around(grant.path);
  if (swallowedBy !== null) return { grants: [], opened: [], swallowedBy };
  const grants: TreeGrant[] = [];
  const opened: string[] = [];
  const visit = (tree: TreeGrant): void => {
    if (!holes.leadsFrom(tree.path)) {
      grants.push(tree);
      return;
    }
    // A hole itself, or something that is not there to be granted in parts.
    if (holes.isHole(tree.path) || !tree.isDirectory) return;
    opened.push(tree.path);
    if (wayBits !== 0) grants.push({ ...tree, bits: wayBits });
    for (const { name, kind } of facts.list(tree.path) ?? []) {
      // A link needs no grant: what it points to has one, or is not granted.
      if (kind === "link") continue;
      const path = joinPath(tree.path, name);
      visit({ path, isDirectory: kind === "directory", bits: tree.bits });
    }
  };
  visit(grant);
  return { grants, opened, swallowedBy: null };
}
