import type { Diagnostic } from "../policy/diagnostic.ts";

/** Why nothing was started; the exit code says whose business it is. */
export interface Refusal {
  /** 125: Faraday's own failure. 126: cannot be executed or enforced. 127: not found. */
  readonly exit: 125 | 126 | 127;
  readonly message: string;
  readonly hint: string | null;
  readonly diagnostics: readonly Diagnostic[];
}

export function refusal(
  exit: Refusal["exit"],
  message: string,
  hint: string | null = null,
): Refusal {
  return { exit, message, hint, diagnostics: [] };
}
