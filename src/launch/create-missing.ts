import { type GrantRoot, grantRoots } from "../plan/grant-roots.ts";
import { textToBytes } from "../policy/byte-text.ts";
import { isEmbedded } from "../policy/embedded-name.ts";
import type { FilesystemPolicy } from "../policy/model.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { type Refusal, refusal } from "./refusal.ts";

/** Whose directory it is, by the last part of its name, for what embedded policies grant. */
const OWNERS: Readonly<Record<string, string>> = {
  ".claude": "claude",
  ".codex": "codex",
  ".gemini": "gemini",
  ".npm": "npm",
  "go-build": "go",
  registry: "cargo",
};

/**
 * Makes granted directories that are missing, where the policy wants it. An embedded policy wants
 * it for tools that are installed: one that never ran could not make its directory under a seal.
 * Tells how many were made.
 */
export function createMissing(
  policy: FilesystemPolicy,
  cwd: string,
  isThere: (path: string) => boolean,
  isInstalled: (tool: string) => boolean,
): Result<number, Refusal> {
  let created = 0;
  for (const root of grantRoots(policy, cwd).roots) {
    // A path without `/**` may be meant to become a file.
    if (!root.isTree || isThere(root.path)) continue;
    const isOurs = isEmbedded(root.grant.span?.file);
    if (isOurs ? !hasOwner(root, isInstalled) : !policy.createMissing) continue;
    try {
      // Loading it costs more than all the rest, and hardly any run needs it.
      const { mkdirSync } = require("node:fs") as typeof import("node:fs");
      mkdirSync(Buffer.from(textToBytes(root.path)), { recursive: true });
      created++;
    } catch (error) {
      const code = (error as { code?: string }).code ?? String(error);
      // A file is there: it is granted as a file. A home that cannot be written needs no grant.
      if (code === "EEXIST" || isOurs) continue;
      return err(refusal(126, `${root.path} is granted but cannot be created: ${code}`));
    }
  }
  return ok(created);
}

function hasOwner({ path }: GrantRoot, isInstalled: (tool: string) => boolean): boolean {
  const owner = OWNERS[path.slice(path.lastIndexOf("/") + 1)];
  return owner !== undefined && isInstalled(owner);
}
