import { escapeControl } from "../policy/escape-control.ts";
import { painter, wantsColor } from "./color.ts";
import type { UsageError } from "./invocation.ts";
import { quoteWords } from "./quote-words.ts";
import type { TerminalIo } from "./terminal-io.ts";

const USAGE_EXIT = 2;
/** A longer correction (an agent's prompt in argv) hides the mistake instead of showing it. */
const CORRECTION_CHARACTERS_MAX = 400;

/** Says on stderr what is wrong with the command line; returns the exit code. */
export function printUsageError(error: UsageError, io: TerminalIo): number {
  // The line could not be parsed, so a `--color` in it does not count.
  const paint = painter({ color: wantsColor("auto", io.stderr, io.env) });
  const lines = [`${paint("error", "faraday")}: ${escapeControl(error.message)}`];
  if (error.hint !== null) lines.push(`${paint("hint", "hint")}: ${escapeControl(error.hint)}`);
  const correction = error.correction === null ? null : quoteWords(error.correction);
  if (correction !== null && correction.length <= CORRECTION_CHARACTERS_MAX) {
    lines.push(`  ${correction}`);
  }
  const page = error.command === null ? "faraday --help" : `faraday ${error.command} --help`;
  lines.push(`See \`${page}\`.`);
  io.stderr.write(`${lines.join("\n")}\n`);
  return USAGE_EXIT;
}
