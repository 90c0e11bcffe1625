import { painter, wantsColor } from "../cli/color.ts";
import type { ColorChoice } from "../cli/invocation.ts";
import { processIo } from "../cli/terminal-io.ts";
import { escapeControl } from "../policy/escape-control.ts";
import type { NetDenial } from "../proxy/net-log.ts";

const SHOWN_MAX = 5;

/** What the proxy refused: each target once, why, and the line that would allow it. */
export function reportNetDenials(
  denials: readonly NetDenial[],
  policyName: string,
  color: ColorChoice,
): void {
  const io = processIo();
  const paint = painter({ color: wantsColor(color, io.stderr, io.env) });
  const total = denials.reduce((sum, { count }) => sum + count, 0);
  const noun = total === 1 ? "network request" : "network requests";
  const lines = [`faraday: ${paint("error", "denied")} ${total} ${noun}`];
  for (const { what, reason, count } of denials.slice(0, SHOWN_MAX)) {
    lines.push(`  ${escapeControl(what)}${count > 1 ? ` (${count} times)` : ""}`);
    lines.push(`    ${escapeControl(reason)}`);
  }
  if (denials.length > SHOWN_MAX) lines.push(`  and ${denials.length - SHOWN_MAX} more`);
  const permit = denials.find((denial) => denial.permit !== null);
  if (permit?.permit != null) {
    const hint = paint("hint", "hint");
    const subject = permit === denials[0] ? "the first" : escapeControl(permit.what);
    lines.push(
      `${hint}: to allow ${subject}, put this below ${permit.table} ${placeOf(policyName)}:`,
    );
    lines.push(`    ${escapeControl(permit.permit)}`);
  }
  io.stderr.write(lines.map((line) => `${line}\n`).join(""));
}

/** What is inside the binary cannot be edited, but it can be extended. */
function placeOf(policyName: string): string {
  if (!policyName.startsWith("builtin:")) return `in ${escapeControl(policyName)}`;
  return `in a policy of your own that has \`extends = ["${policyName}"]\``;
}
