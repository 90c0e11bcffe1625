import type { Diagnostic } from "../policy/diagnostic.ts";
import { parseGlob } from "../policy/glob-pattern.ts";
import { globRoot } from "../policy/glob-root.ts";
import type { FilesystemPolicy, PathGrant } from "../policy/model.ts";
import { braceOptions } from "./brace-options.ts";
import type { FileUse } from "./file-rights.ts";
import { absolutePath } from "./path-facts.ts";

type GrantKey = "read" | "write" | "allow" | "exec";

/** `read` lets programs be started too: what can be read can be copied and started anyway. */
const KEY_USES: Readonly<Record<GrantKey, readonly FileUse[]>> = {
  read: ["read", "execute"],
  write: ["write"],
  allow: ["read", "execute", "write"],
  exec: ["read", "execute"],
};

/** A grant as Landlock can express it: a path and all that is below it. */
export interface GrantRoot {
  /** Absolute; links are not resolved yet. */
  readonly path: string;
  readonly uses: readonly FileUse[];
  /** Its execute right stands even where `noexec` takes it from writable trees. */
  readonly keepsExecute: boolean;
  /** It was written as a directory, so it may be created as one. */
  readonly isTree: boolean;
  readonly key: GrantKey;
  readonly grant: PathGrant;
}

export interface GrantRoots {
  readonly roots: readonly GrantRoot[];
  readonly warnings: readonly Diagnostic[];
}

/** Turns globs into the subtrees that stand for them, and says where that is more. */
export function grantRoots(policy: FilesystemPolicy, cwd: string): GrantRoots {
  const roots: GrantRoot[] = [];
  const warnings: Diagnostic[] = [];
  for (const key of ["read", "write", "allow", "exec"] as const) {
    for (const grant of policy[key]) {
      for (const { path, kind } of rootsOf(grant)) {
        const absolute = absolutePath(path, cwd);
        if (kind === "widened") warnings.push(widened(key, grant, absolute));
        roots.push({
          path: absolute,
          uses: KEY_USES[key],
          keepsExecute: key === "exec",
          isTree: kind !== "path" || grant.glob.endsWith("/"),
          key,
          grant,
        });
      }
    }
  }
  return { roots, warnings };
}

function rootsOf(grant: PathGrant): ReturnType<typeof globRoot>[] {
  const parsed = parseGlob(grant.glob);
  // The policy's reader has refused it already.
  if (!parsed.ok) throw new Error(`a bad glob in a grant: ${parsed.error}`);
  return (braceOptions(parsed.value) ?? [parsed.value]).map(globRoot);
}

function widened(key: GrantKey, { glob, span }: PathGrant, path: string): Diagnostic {
  return {
    severity: "warning",
    code: "widened-grant",
    message: `${key}: "${glob}" grants everything below ${path}, which is more than the glob says`,
    span,
    hint: `the kernel grants whole trees only: name files or directories, or write "${path}/**"`,
  };
}
