import type { Diagnostic, Span } from "./diagnostic.ts";

/** Every error that a policy file can have, by its stable name. */
export type ErrorCode =
  | "toml-syntax"
  | "empty-policy"
  | "unknown-table"
  | "unknown-key"
  | "missing-key"
  | "wrong-type"
  | "bad-value"
  | "bad-regex"
  | "bad-glob"
  | "bad-host"
  | "undefined-variable"
  | "duplicate-id"
  | "unsupported-version"
  | "extends-missing"
  | "extends-cycle"
  | "test-failed";

export type WarningCode = "shadowed-rule" | "name-not-sealed" | "host-in-deny";

/** Collects what is wrong, so that a user sees every mistake at once. */
export class ProblemList {
  readonly errors: Diagnostic[] = [];
  readonly warnings: Diagnostic[] = [];

  error(code: ErrorCode, span: Span, message: string, hint: string | null = null): void {
    this.errors.push({ severity: "error", code, message, span, hint });
  }

  warn(code: WarningCode, span: Span, message: string, hint: string | null = null): void {
    this.warnings.push({ severity: "warning", code, message, span, hint });
  }
}
