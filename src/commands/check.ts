import { wantsColor } from "../cli/color.ts";
import type { CheckInvocation } from "../cli/invocation.ts";
import { renderDiagnostics } from "../cli/render-diagnostic.ts";
import type { TerminalIo } from "../cli/terminal-io.ts";
import { DEFAULT_POLICY } from "../launch/builtin-names.ts";
import { homeDirectory } from "../launch/home-directory.ts";
import { type LoadedPolicy, loadPolicy } from "../launch/load-policy.ts";
import { checkFilesystem } from "../plan/check-filesystem.ts";
import type { Diagnostic } from "../policy/diagnostic.ts";
import { escapeControl } from "../policy/escape-control.ts";
import { err, ok, type Result } from "../policy/result.ts";

/** Raised only when a field changes its meaning or goes away; new fields do not count. */
const REPORT_VERSION = 1;

/** Loads a policy exactly as `run` would, and says what it found; returns the exit code. */
export function runCheck(invocation: CheckInvocation, io: TerminalIo): number {
  const path = invocation.policy ?? DEFAULT_POLICY;
  const home = homeDirectory(io.env("HOME"), process.getuid?.() ?? -1);
  const loaded = checkFiles(loadPolicy(path, { env: io.env, home }));
  if (invocation.json) {
    io.stdout.write(`${JSON.stringify(report(path, loaded))}\n`);
    return loaded.ok ? 0 : 1;
  }
  const diagnostics = diagnosticsOf(loaded);
  if (diagnostics.length > 0) {
    const color = wantsColor(invocation.color, io.stderr, io.env);
    io.stderr.write(renderDiagnostics(diagnostics, { color }));
  }
  if (!loaded.ok) return 1;
  io.stdout.write(`policy ok: ${escapeControl(path)}\n`);
  return 0;
}

type Loading = Result<LoadedPolicy, readonly Diagnostic[]>;

/** What `run` would say of the grants on any machine. */
function checkFiles(loaded: Loading): Loading {
  if (!loaded.ok || loaded.value.policy.filesystem === null) return loaded;
  const found = checkFilesystem(loaded.value.policy.filesystem, process.cwd());
  if (found.some(({ severity }) => severity === "error")) return err(found);
  return ok({ ...loaded.value, warnings: [...loaded.value.warnings, ...found] });
}

function report(path: string, loaded: Loading): object {
  return {
    v: REPORT_VERSION,
    ok: loaded.ok,
    policy: path,
    sha256: loaded.ok ? loaded.value.sha256 : null,
    bases: loaded.ok ? loaded.value.bases : null,
    rules: loaded.ok ? loaded.value.policy.rules.length : null,
    tests: loaded.ok ? loaded.value.policy.tests.length : null,
    diagnostics: diagnosticsOf(loaded).map(({ severity, code, message, span, hint }) => ({
      severity,
      code,
      message,
      file: span?.file ?? null,
      line: span?.line ?? null,
      column: span?.column ?? null,
      hint,
    })),
  };
}

function diagnosticsOf(loaded: Loading): readonly Diagnostic[] {
  return loaded.ok ? loaded.value.warnings : loaded.error;
}
