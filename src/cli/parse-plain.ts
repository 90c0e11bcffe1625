/** The commands with hardly a flag. */
import { err, ok, type Result } from "../policy/result.ts";
import { SHELLS } from "./flags.ts";
import type {
  CompletionsInvocation,
  DoctorInvocation,
  InitInvocation,
  PrintInvocation,
  ProfilesInvocation,
  SelftestInvocation,
  UsageError,
} from "./invocation.ts";
import { noOperand, oneOperand } from "./parse-word.ts";
import { colorChoice } from "./policy-choice.ts";
import { POLICY_NAMES, type ProfileName } from "./profile-names.ts";
import type { ScannedWords } from "./scan-flags.ts";

export function parseTrial(
  command: "doctor" | "selftest",
  line: readonly string[],
  scanned: ScannedWords,
): Result<DoctorInvocation | SelftestInvocation, UsageError> {
  const none = noOperand(line, scanned, command);
  if (!none.ok) return none;
  return ok({ command, json: scanned.values.has("json"), color: colorChoice(scanned) });
}

export function parseProfiles(
  line: readonly string[],
  scanned: ScannedWords,
): Result<ProfilesInvocation, UsageError> {
  const name = oneOperand(line, scanned, "profiles", POLICY_NAMES);
  if (!name.ok) return name;
  const json = scanned.values.has("json");
  return ok({ command: "profiles", name: name.value, json, color: colorChoice(scanned) });
}

export function parseInit(
  line: readonly string[],
  scanned: ScannedWords,
): Result<InitInvocation, UsageError> {
  const none = noOperand(line, scanned, "init");
  if (!none.ok) return none;
  const profile = (scanned.values.get("profile")?.[0] ?? "default") as ProfileName;
  const force = scanned.values.has("force");
  return ok({ command: "init", profile, force, color: colorChoice(scanned) });
}

export function parseCompletions(
  line: readonly string[],
  scanned: ScannedWords,
): Result<CompletionsInvocation, UsageError> {
  const shell = oneOperand(line, scanned, "completions", SHELLS);
  if (!shell.ok) return shell;
  if (shell.value !== null) return ok({ command: "completions", shell: shell.value });
  return err({
    message: `name the shell: ${SHELLS.join(", ")}`,
    hint: null,
    correction: ["faraday", "completions", "bash"],
    command: "completions",
  });
}

export function parsePrint(
  command: PrintInvocation["command"],
  line: readonly string[],
  scanned: ScannedWords,
): Result<PrintInvocation, UsageError> {
  const none = noOperand(line, scanned, command);
  return none.ok ? ok({ command }) : none;
}
