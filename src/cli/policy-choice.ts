import { err, ok, type Result } from "../policy/result.ts";
import type { CommandName } from "./flags.ts";
import type { ColorChoice, UsageError } from "./invocation.ts";
import type { ScannedWords } from "./scan-flags.ts";

/** `--policy`, or `--profile NAME` as `builtin:NAME`; null stands for the embedded default. */
export function policyChoice(
  { values }: ScannedWords,
  command: CommandName,
): Result<string | null, UsageError> {
  const policy = values.get("policy")?.[0] ?? null;
  const profile = values.get("profile")?.[0];
  if (profile === undefined) return ok(policy);
  if (policy === null) return ok(`builtin:${profile}`);
  return err({
    message: "`--policy` and `--profile` both name a policy",
    hint: `give one; a policy of your own can begin with \`extends = ["builtin:${profile}"]\``,
    correction: null,
    command,
  });
}

export function colorChoice(scanned: ScannedWords): ColorChoice {
  // The scanner has let nothing else through than the choices in the table.
  return (scanned.values.get("color")?.at(-1) ?? "auto") as ColorChoice;
}
