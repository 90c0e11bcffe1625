import { type Paint, painter } from "../cli/color.ts";
import { escapeControl } from "../policy/escape-control.ts";
import type { NetAnswer, NetQuestion, RouteAnswer } from "../policy/explain-network.ts";
import type { NetworkPolicy } from "../policy/model.ts";
import type { Rendering } from "./explain-text.ts";

/** Raised only when a field changes its meaning or goes away; new fields do not count. */
const REPORT_VERSION = 1;

const textOf = ({ target: { host, port }, path }: NetQuestion): string =>
  escapeControl(`${host}:${port}${path ?? ""}`);

/** A route lets through what the lists do not. */
export const isNetAllowed = ({ verdict, routes }: NetAnswer): boolean =>
  verdict.action === "allow" || routes.some(({ methods }) => methods.length > 0);

export function netReport(
  question: NetQuestion,
  answer: NetAnswer | null,
  { policy }: Rendering,
): object {
  const { target, path } = question;
  const head = { v: REPORT_VERSION, ok: true, question: path === null ? "host" : "url" };
  const asked = { policy: policy.name, host: target.host, port: target.port, path };
  if (answer === null) return { ...head, action: "allow", ...asked, judged: false };
  const { verdict, passedOver, routes, hasAddressesLeft, change } = answer;
  const { span } = verdict;
  return {
    ...head,
    action: isNetAllowed(answer) ? "allow" : "deny",
    ...asked,
    judged: true,
    pinned: isPinned(policy.network),
    rule_id: verdict.ruleId,
    reason: verdict.reason,
    place: span === null ? null : { file: span.file, line: span.line },
    addresses_left: hasAddressesLeft,
    passed_over: passedOver.map(({ key, entry: { host, span: at } }) => ({
      key,
      entry: host,
      place: at === null ? null : { file: at.file, line: at.line },
    })),
    routes: routes.map(({ route, path: rest, methods }) => ({
      name: route.name,
      path: rest,
      methods,
    })),
    change,
  };
}

export function netText(
  question: NetQuestion,
  answer: NetAnswer | null,
  { policy, color }: Rendering,
): string {
  const paint = painter({ color });
  const name = escapeControl(policy.name);
  if (answer === null) {
    const reason = `${name} has no [network]: connections are not judged`;
    return `${mark(true, paint)}  ${textOf(question)}\n  ${reason}\n`;
  }
  const { verdict, hasAddressesLeft, routes } = answer;
  const lines = [`${mark(isNetAllowed(answer), paint)}  ${textOf(question)}`];
  lines.push(`  ${escapeControl(verdict.reason)}`);
  if (hasAddressesLeft) {
    lines.push("  its addresses are judged as well: private and loopback ones have to be listed");
  }
  for (const route of routes) lines.push(`  ${routeText(route)}`);
  lines.push(...passedOverLines(answer, paint));
  if (!isPinned(policy.network)) {
    lines.push("  without kernel_pin, a program that ignores the proxy is not held to this");
  }
  lines.push(...changeLines(answer, policy.name, paint));
  return `${lines.join("\n")}\n`;
}

const isPinned = (network: NetworkPolicy | null): boolean =>
  network !== null && (network.kernelPin || network.blockAll);

const mark = (isAllowed: boolean, paint: Paint): string =>
  isAllowed ? paint("bold", "allow") : paint("error", "deny");

function routeText({ route, path, methods }: RouteAnswer): string {
  const where = `through the route ${route.name}, ${escapeControl(path)}`;
  if (methods.length === 0) return `${where} is denied: no endpoint_rules cover it`;
  return `${where} is allowed for ${methods.includes("*") ? "every method" : methods.join(", ")}`;
}

function passedOverLines({ passedOver }: NetAnswer, paint: Paint): string[] {
  if (passedOver.length === 0) return [];
  const width = Math.max(...passedOver.map(({ entry }) => entry.host.length));
  return [
    "  entries above that did not match:",
    ...passedOver.map(({ key, entry: { host, span } }) => {
      const place = span === null ? "" : escapeControl(`${span.file}:${span.line}`);
      const row = `${key.padEnd("allowed_hosts".length)}  ${escapeControl(host).padEnd(width)}`;
      return `    ${row}  ${paint("faint", place)}`.trimEnd();
    }),
  ];
}

function changeLines(answer: NetAnswer, policyName: string, paint: Paint): string[] {
  const { change, verdict, routes } = answer;
  const hint = paint("hint", "hint");
  const closed = routes.find(({ methods }) => methods.length === 0);
  const place = policyName.startsWith("builtin:")
    ? `in a policy of your own that has \`extends = ["${policyName}"]\``
    : `in ${escapeControl(policyName)}`;
  if (verdict.action === "deny" && closed !== undefined) {
    const { route, path } = closed;
    return [
      `${hint}: to allow it, put this below [network.routes.${route.name}] ${place}:`,
      `    endpoint_rules = [{ method = "GET", path = "${escapeControl(path)}" }]`,
    ];
  }
  if (change === null) return removalLines(answer, hint);
  const turn = verdict.action === "allow" ? "deny" : "allow";
  return [
    `${hint}: to ${turn} it, put this below [network] ${place}:`,
    `    ${escapeControl(change)}`,
  ];
}

/** What is denied by a list stays denied, whatever is added. */
function removalLines({ verdict: { ruleId, span } }: NetAnswer, hint: string): string[] {
  const entry = /^denied_hosts:(.*)$/s.exec(ruleId)?.[1];
  if (ruleId === "block_all")
    return [`${hint}: to allow it, use a policy without \`block_all = true\``];
  if (entry === undefined) return [];
  const place = span === null ? "" : escapeControl(` (${span.file}:${span.line})`);
  return [`${hint}: to allow it, take "${escapeControl(entry)}" out of denied_hosts${place}`];
}
