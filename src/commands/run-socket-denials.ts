import { painter, wantsColor } from "../cli/color.ts";
import type { ColorChoice } from "../cli/invocation.ts";
import { processIo } from "../cli/terminal-io.ts";
import { BLOCKED } from "../plan/network-pin.ts";
import { escapeControl } from "../policy/escape-control.ts";
import type { SocketDenial } from "../supervise/socket-log.ts";

const SHOWN_MAX = 10;

/** What the pin refused: each target once, with the line that would allow it. */
export function reportSocketDenials(denials: readonly SocketDenial[], color: ColorChoice): void {
  const io = processIo();
  const paint = painter({ color: wantsColor(color, io.stderr, io.env) });
  const total = denials.reduce((sum, { count }) => sum + count, 0);
  const noun = total === 1 ? "socket call" : "socket calls";
  const lines = [`faraday: ${paint("error", "denied")} ${total} ${noun}`];
  for (const { call, target, port, reason, grant, count } of denials.slice(0, SHOWN_MAX)) {
    const times = count > 1 ? ` (${count} times)` : "";
    lines.push(`  ${call} ${escapeControl(placeOf(target, port))}${times}: ${reason}`);
    if (grant !== null) lines.push(`    ${escapeControl(grant)}`);
  }
  if (denials.length > SHOWN_MAX) lines.push(`  and ${denials.length - SHOWN_MAX} more`);
  if (denials.some(({ grant }) => grant !== null)) {
    lines.push(`${paint("hint", "hint")}: the indented lines go below [network] in the policy`);
  } else if (denials.some(({ port }) => port !== null)) {
    const way = denials.some(({ reason }) => reason === BLOCKED)
      ? "without --block-net (and `block_all`) the lists of [network] would count"
      : "hosts are reached through the proxy: list them in `allowed_hosts`";
    lines.push(`${paint("hint", "hint")}: ${way}`);
  }
  io.stderr.write(lines.map((line) => `${line}\n`).join(""));
}

function placeOf(target: string, port: number | null): string {
  if (port === null) return target;
  return target.includes(":") ? `[${target}]:${port}` : `${target}:${port}`;
}
