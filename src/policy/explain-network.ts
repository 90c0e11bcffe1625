import { addressOf } from "./host-rule.ts";
import type { HostEntry, NetworkPolicy, RoutePolicy } from "./model.ts";
import { canonicalTarget, type NetTarget, type NetVerdict, NetworkJudge } from "./network-judge.ts";
import { err, ok, type Result } from "./result.ts";
import { normalizePath, pathMatches } from "./route-path.ts";

/** Where a connection is to go; `path` is null if only a host was named. */
export interface NetQuestion {
  readonly target: NetTarget;
  readonly path: string | null;
}

/** What a route with that upstream makes of the URL. */
export interface RouteAnswer {
  readonly route: RoutePolicy;
  readonly path: string;
  /** The methods with which it is let through; `*` is every one. */
  readonly methods: readonly string[];
}

export interface NetAnswer {
  readonly verdict: NetVerdict;
  /** Entries that were looked at before and did not match. */
  readonly passedOver: readonly { readonly key: string; readonly entry: HostEntry }[];
  readonly routes: readonly RouteAnswer[];
  /** A name is judged again by each address that it has, which nobody has asked for yet. */
  readonly hasAddressesLeft: boolean;
  /** The line of `[network]` that would turn the verdict; null if there is none. */
  readonly change: string | null;
}

const AUTHORITY = /^(\[[^\]]*\]|[^:[\]]+)(?::([0-9]{1,5}))?$/;
const PORT_MAX = 65_535;
const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** `HOST` or `HOST:PORT`; without a port that of HTTPS is meant. The error is a sentence. */
export function hostQuestion(text: string): Result<NetQuestion, string> {
  if (text.includes("://")) return err("that is a URL, not a host: ask with `--url`");
  const isBareSix = text.split(":").length > 2 && !text.startsWith("[");
  const parts = AUTHORITY.exec(isBareSix ? `[${text}]` : text);
  const host = canonicalTarget(parts?.[1] ?? "");
  if (host === null) return err("a host is a name or an address, with `:PORT` if need be");
  const port = Number(parts?.[2] ?? PORTS["https:"]);
  if (port < 1 || port > PORT_MAX) return err(`a port is a number from 1 to ${PORT_MAX}`);
  return ok({ target: { host, port }, path: null });
}

/** The error is a sentence. */
export function urlQuestion(text: string): Result<NetQuestion, string> {
  const url = URL.canParse(text) ? new URL(text) : null;
  const standard = url === null ? undefined : PORTS[url.protocol];
  if (url === null || standard === undefined || !text.includes("://")) {
    return err("a URL begins with `http://` or `https://`");
  }
  const host = canonicalTarget(url.hostname);
  if (host === null) return err("the URL has no valid host");
  const port = url.port === "" ? standard : Number(url.port);
  return ok({ target: { host, port }, path: url.pathname });
}

export function explainNetwork(network: NetworkPolicy, question: NetQuestion): NetAnswer {
  const { target } = question;
  if (network.blockAll) return blocked();
  const judge = new NetworkJudge(network);
  const before = judge.judgeHost(target);
  const literal = addressOf(target.host);
  const verdict =
    before.ruleId === "pending"
      ? unknown(target.host)
      : literal === null || before.action === "deny"
        ? before
        : judge.judgeAddress(target, literal, before);
  return {
    verdict,
    passedOver: passedOver(network, verdict),
    routes: network.routes.flatMap((route) => routeAnswer(route, question)),
    hasAddressesLeft: literal === null && verdict.action === "allow",
    change: verdict.action === "allow" ? `denied_hosts = ["${target.host}"]` : verdict.permit,
  };
}

function blocked(): NetAnswer {
  const reason = "block_all: there is no network at all";
  const verdict = {
    action: "deny",
    ruleId: "block_all",
    reason,
    span: null,
    permit: null,
  } as const;
  return { verdict, passedOver: [], routes: [], hasAddressesLeft: false, change: null };
}

/** Nothing is resolved for a question, and an answer in doubt is no. */
function unknown(host: string): NetVerdict {
  const only = "only all its addresses in listed ranges allow it";
  const reason = `${host} is not in allowed_hosts; ${only}`;
  const permit = `allowed_hosts = ["${host}"]`;
  return { action: "deny", ruleId: "allowed_hosts", reason, span: null, permit };
}

function passedOver(network: NetworkPolicy, { ruleId }: NetVerdict): NetAnswer["passedOver"] {
  const entries = [
    ...network.deniedHosts.map((entry) => ({ key: "denied_hosts", entry })),
    ...network.allowedHosts.map((entry) => ({ key: "allowed_hosts", entry })),
  ];
  // Hosts of cloud metadata are refused before any list is looked at.
  if (ruleId === "builtin:metadata") return [];
  const decided = entries.findIndex(({ key, entry }) => ruleId === `${key}:${entry.host}`);
  return decided < 0 ? entries : entries.slice(0, decided);
}

function routeAnswer(route: RoutePolicy, { target, path }: NetQuestion): RouteAnswer[] {
  const upstream = new URL(route.upstream);
  const port = upstream.port === "" ? PORTS[upstream.protocol] : Number(upstream.port);
  if (canonicalTarget(upstream.hostname) !== target.host || port !== target.port) return [];
  const base = upstream.pathname.replace(/\/$/, "");
  const isBelow = path === base || path?.startsWith(`${base}/`) === true;
  if (path === null || !isBelow) return [];
  const rest = normalizePath(path.slice(base.length) || "/");
  if (!rest.ok) return [{ route, path, methods: [] }];
  const rules = route.endpointRules.filter((rule) => pathMatches(rule.path, rest.value));
  const methods = route.endpointRules.length === 0 ? ["*"] : rules.map(({ method }) => method);
  return [{ route, path: rest.value, methods: [...new Set(methods)] }];
}
