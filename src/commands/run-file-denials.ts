import { painter, wantsColor } from "../cli/color.ts";
import type { ColorChoice } from "../cli/invocation.ts";
import { processIo } from "../cli/terminal-io.ts";
import { escapeControl } from "../policy/escape-control.ts";
import type { FileDenial } from "../supervise/file-log.ts";

const SHOWN_MAX = 10;

/** What --explain-denials found: each path once, with the line that would grant it. */
export function reportFileDenials(denials: readonly FileDenial[], color: ColorChoice): void {
  const io = processIo();
  const paint = painter({ color: wantsColor(color, io.stderr, io.env) });
  const total = denials.reduce((sum, { count }) => sum + count, 0);
  const noun = total === 1 ? "file access" : "file accesses";
  const lines = [`faraday: ${paint("error", "denied")} ${total} ${noun}`];
  for (const { path, rights, call, grant, hole, count } of denials.slice(0, SHOWN_MAX)) {
    const times = count > 1 ? ` (${count} times)` : "";
    lines.push(`  ${escapeControl(path)}: ${call} needs ${rights.join(", ")}${times}`);
    lines.push(`    ${escapeControl(grant ?? `it lies in the hole "${hole}"`)}`);
  }
  if (denials.length > SHOWN_MAX) lines.push(`  and ${denials.length - SHOWN_MAX} more`);
  // Nothing that could be added opens a hole.
  if (denials.some(({ grant }) => grant !== null)) {
    lines.push(`${paint("hint", "hint")}: the indented lines go below [filesystem] in the policy`);
  }
  io.stderr.write(lines.map((line) => `${line}\n`).join(""));
}
