import { closestName } from "./closest-name.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { Environment } from "./expand-variables.ts";
import { joinNetwork } from "./join-network.ts";
import type { EndpointRule, NetworkPolicy, RoutePolicy } from "./model.ts";
import { ProblemList } from "./problem-list.ts";
import { COMMAND_LINE } from "./read-cli-grants.ts";
import { type NetworkSettings, readNetwork } from "./read-network.ts";
import { parseEndpoint } from "./read-route.ts";
import { err, ok, type Result } from "./result.ts";
import { SourceText } from "./source-text.ts";
import type { TomlArray, TomlEntry, TomlTable } from "./toml-tree.ts";

export interface CliNetwork {
  readonly blockNet: boolean;
  readonly allowDomains: readonly string[];
  readonly denyDomains: readonly string[];
  /** `SVC:METHOD:PATH` */
  readonly allowEndpoints: readonly string[];
}

export function asksForNetwork(cli: CliNetwork): boolean {
  const { blockNet, allowDomains, denyDomains, allowEndpoints } = cli;
  return blockNet || allowDomains.length + denyDomains.length + allowEndpoints.length > 0;
}

/**
 * The network of a run: the flags of the command line, held to the rules of a `[network]` table
 * and put before what the policy says. Null if neither says anything.
 */
export function readCliNetwork(
  cli: CliNetwork,
  policy: NetworkPolicy | null,
  context: { readonly env: Environment; readonly home: string | undefined },
): Result<NetworkPolicy | null, readonly Diagnostic[]> {
  if (!asksForNetwork(cli)) return ok(policy);
  const problems = new ProblemList();
  const lines = new FlagLines();
  const entries = new Map<string, TomlEntry>();
  const lists = { allowed_hosts: cli.allowDomains, denied_hosts: cli.denyDomains };
  for (const [key, values] of Object.entries(lists)) {
    const flag = key === "allowed_hosts" ? "--allow-domain" : "--deny-domain";
    const elements: TomlArray["elements"] = values.map((value) => ({
      type: "string",
      value,
      ...lines.add(flag, value),
    }));
    const list: TomlArray = { type: "array", elements, start: 0, end: 0 };
    if (elements.length > 0) entries.set(key, { key, keyStart: 0, keyEnd: 0, value: list });
  }
  const endpoints = cli.allowEndpoints.map((word) => ({
    word,
    ...lines.add("--allow-endpoint", word),
  }));
  const source = new SourceText(COMMAND_LINE, lines.text);
  const table: TomlTable = { type: "table", entries, start: 0, end: lines.text.length };
  const flags = readNetwork(table, {
    ...context,
    source,
    problems,
    keepsVariables: false,
    skipTests: true,
  });
  const routes = endpoints.reduce<readonly RoutePolicy[]>(
    (known, { word, start, end }) =>
      addEndpoint(known, word, { source, problems, start, end }) ?? known,
    policy?.routes ?? [],
  );
  if (problems.errors.length > 0) return err(problems.errors);
  const own: NetworkSettings = { ...flags, blockAll: cli.blockNet || undefined, routes };
  const base: readonly NetworkSettings[] = policy === null ? [] : [asSettings(policy)];
  return ok(joinNetwork([own, ...base]));
}

/** A line a flag, so that a mistake can be shown in its place. */
class FlagLines {
  text = "";

  add(flag: string, value: string): { start: number; end: number } {
    const start = this.text.length + flag.length + 1;
    this.text += `${flag} ${value.replaceAll("\n", " ")}\n`;
    return { start, end: start + value.length };
  }
}

const asSettings = (policy: NetworkPolicy): NetworkSettings => ({
  ...policy,
  unixSockets: policy.unixSockets ?? undefined,
});

interface Place {
  readonly source: SourceText;
  readonly problems: ProblemList;
  readonly start: number;
  readonly end: number;
}

/** The routes with the endpoint put before those of its route; null after a mistake. */
function addEndpoint(
  routes: readonly RoutePolicy[],
  word: string,
  place: Place,
): readonly RoutePolicy[] | null {
  const span = place.source.span(place.start, place.end);
  const parts = /^([^:]*):([^:]*):(.*)$/s.exec(word);
  if (parts === null) {
    const hint = "write SERVICE:METHOD:PATH, as in `openai:POST:/v1/chat/completions`";
    place.problems.error("bad-value", span, `"${word}" is no endpoint`, hint);
    return null;
  }
  const [, service = "", method = "", path = ""] = parts;
  const names = routes.map(({ name }) => name);
  if (!names.includes(service)) {
    const near = closestName(service, names);
    const known = names.length === 0 ? "the policy has no route" : `routes: ${names.join(", ")}`;
    const hint = near === null ? known : `did you mean "${near}"?`;
    place.problems.error("bad-value", span, `there is no route "${service}"`, hint);
    return null;
  }
  const endpoint = parseEndpoint(method, path);
  if (!endpoint.ok) {
    place.problems.error("bad-value", span, endpoint.error.message, endpoint.error.hint);
    return null;
  }
  const rule: EndpointRule = { ...endpoint.value, span };
  return routes.map((route) =>
    route.name === service ? { ...route, endpointRules: [rule, ...route.endpointRules] } : route,
  );
}
