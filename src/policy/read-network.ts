import { PORT_MAX, parseHostRule } from "./host-rule.ts";
import { isMetadataHost } from "./metadata-hosts.ts";
import type { HostEntry, PathGrant, RoutePolicy } from "./model.ts";
import type { ReadContext } from "./read-context.ts";
import { readGrants } from "./read-filesystem.ts";
import { readRoute } from "./read-route.ts";
import { describeType, TableReader } from "./table-reader.ts";
import type { TomlTable } from "./toml-tree.ts";

/** A `[network]` table as written, or the flags of a command line: what is not set, a base may. */
export interface NetworkSettings {
  readonly allowedHosts: readonly HostEntry[];
  readonly deniedHosts: readonly HostEntry[];
  readonly kernelPin: boolean | undefined;
  readonly allowedLocalPorts: readonly number[];
  readonly allowedBindPorts: readonly number[];
  readonly unixSockets: readonly PathGrant[] | undefined;
  readonly checkSni: boolean | undefined;
  readonly requireEnforced: boolean | undefined;
  readonly blockAll: boolean | undefined;
  readonly routes: readonly RoutePolicy[];
}

const KEYS = [
  "allowed_hosts",
  "denied_hosts",
  "block_all",
  "kernel_pin",
  "allowed_local_ports",
  "allowed_bind_ports",
  "unix_sockets",
  "check_sni",
  "require_enforced",
  "routes",
];

export function readNetwork(table: TomlTable, context: ReadContext): NetworkSettings {
  const reader = new TableReader(table, "[network]", context.source, context.problems);
  reader.checkKeys(KEYS);
  const hasSockets = reader.get("unix_sockets") !== undefined;
  return {
    allowedHosts: readHosts(reader, "allowed_hosts"),
    deniedHosts: readHosts(reader, "denied_hosts"),
    kernelPin: reader.boolean("kernel_pin"),
    allowedLocalPorts: readPorts(reader, "allowed_local_ports", 1),
    // Binding to port 0 asks the kernel for any free one.
    allowedBindPorts: readPorts(reader, "allowed_bind_ports", 0),
    unixSockets: hasSockets ? readGrants(reader, "unix_sockets", context) : undefined,
    checkSni: reader.boolean("check_sni"),
    requireEnforced: reader.boolean("require_enforced"),
    blockAll: reader.boolean("block_all"),
    routes: readRoutes(reader, context),
  };
}

function readHosts(reader: TableReader, key: string): HostEntry[] {
  return (reader.strings(key) ?? []).flatMap((node) => {
    const rule = parseHostRule(node.value);
    if (!rule.ok) {
      const hint = "write a name, `*.name`, an address or a range, and perhaps `:port` behind it";
      reader.error("bad-host", node, `"${node.value}" is no host: ${rule.error}`, hint);
      return [];
    }
    const { value } = rule;
    const host = value.kind === "range" ? value.address : value.host;
    if (key === "allowed_hosts" && value.kind !== "subdomains" && isMetadataHost(host)) {
      const message = `"${node.value}" is a host of cloud metadata, which is never reachable`;
      reader.error("bad-host", node, message, "remove it: the agent must not hold its secrets");
      return [];
    }
    return { host: node.value, span: reader.spanOf(node) };
  });
}

function readPorts(reader: TableReader, key: string, portMin: 0 | 1): number[] {
  return (reader.list(key) ?? []).flatMap((node) => {
    if (node.type !== "integer") {
      reader.wrongType(key, node, "made of port numbers");
      return [];
    }
    if (node.value >= portMin && node.value <= PORT_MAX) return node.value;
    const message = `a port is a number from ${portMin} to ${PORT_MAX}, not ${node.value}`;
    reader.error("bad-value", node, message);
    return [];
  });
}

function readRoutes(network: TableReader, context: ReadContext): RoutePolicy[] {
  const node = network.get("routes")?.value;
  if (node === undefined) return [];
  const hint = "write [network.routes.NAME] on a line of its own";
  if (node.type !== "table") {
    const message = `\`routes\` must be a table, not ${describeType(node)}`;
    network.error("wrong-type", node, message, hint);
    return [];
  }
  return [...node.entries.values()].flatMap((entry) => {
    if (entry.value.type === "table") return readRoute(entry, entry.value, context) ?? [];
    const message = `the route \`${entry.key}\` must be a table, not ${describeType(entry.value)}`;
    network.error("wrong-type", entry.value, message, hint);
    return [];
  });
}
