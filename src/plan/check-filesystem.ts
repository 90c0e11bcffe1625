import type { Diagnostic } from "../policy/diagnostic.ts";
import type { FilesystemPolicy } from "../policy/model.ts";
import { grantRoots } from "./grant-roots.ts";
import { holePatterns } from "./hole-pattern.ts";

/** What can be said of a `[filesystem]` table without the disk that it will be used on. */
export function checkFilesystem(policy: FilesystemPolicy, cwd: string): readonly Diagnostic[] {
  const errors: Diagnostic[] = [];
  for (const grant of [...policy.deny, ...policy.denyWrite]) {
    const patterns = holePatterns(grant, cwd);
    if (patterns.ok) continue;
    const message = `the hole "${grant.glob}" cannot be held: ${patterns.error}`;
    const { span } = grant;
    errors.push({ severity: "error", code: "hole-not-held", message, span, hint: null });
  }
  return [...errors, ...grantRoots(policy, cwd).warnings];
}
