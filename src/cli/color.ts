import type { ColorChoice } from "./invocation.ts";
import type { OutputStream, TerminalIo } from "./terminal-io.ts";

/** `--color` over `NO_COLOR` over what the stream is. */
export function wantsColor(
  choice: ColorChoice,
  stream: Pick<OutputStream, "isTerminal">,
  env: TerminalIo["env"],
): boolean {
  if (choice !== "auto") return choice === "always";
  // An empty NO_COLOR counts as unset (no-color.org).
  if ((env("NO_COLOR") ?? "") !== "") return false;
  return stream.isTerminal && env("TERM") !== "dumb";
}

export type Style = "error" | "warning" | "hint" | "bold" | "faint";

const CODES: Readonly<Record<Style, string>> = {
  error: "1;31",
  warning: "1;33",
  hint: "1;36",
  bold: "1",
  faint: "2",
};

export type Paint = (style: Style, text: string) => string;

export function painter(options: { readonly color: boolean }): Paint {
  if (!options.color) return (_style, text) => text;
  return (style, text) => `\u001b[${CODES[style]}m${text}\u001b[0m`;
}
