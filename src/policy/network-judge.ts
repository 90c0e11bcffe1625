import {
  type Address,
  type AddressClass,
  addressClass,
  isWithinRange,
  parseAddress,
  touchesRange,
} from "./address-class.ts";
import type { Span } from "./diagnostic.ts";
import { addressOf, type HostRule, parseHostRule } from "./host-rule.ts";
import { isMetadataHost } from "./metadata-hosts.ts";
import type { HostEntry, NetworkPolicy } from "./model.ts";

export interface NetVerdict {
  readonly action: "allow" | "deny";
  /** `allowed_hosts:ENTRY`, `denied_hosts:ENTRY`, `default` or `builtin:NAME`. */
  readonly ruleId: string;
  readonly reason: string;
  readonly span: Span | null;
  /** The line of `[network]` that would allow it; null if none would. */
  readonly permit: string | null;
}

export interface NetTarget {
  /** Canonical: lower case, without a trailing dot, an IPv6 address in brackets. */
  readonly host: string;
  readonly port: number;
}

interface Entry {
  readonly rule: HostRule;
  readonly base: Address | null;
  readonly span: Span | null;
}

const LABELS = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_-]{1,63}$/;

/**
 * A host as a request spells it, in the one spelling in which it is compared, or null. `0x7f.1` and
 * `2130706433` are addresses; what is encoded, has a zone or is not ASCII is not a host here.
 */
export function canonicalTarget(host: string): string | null {
  if (!/^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)$/.test(host)) return null;
  try {
    const { hostname } = new URL(`http://${host}/`);
    const plain = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
    if (plain.startsWith("[")) return plain;
    return LABELS.test(plain) ? plain : null;
  } catch {
    return null;
  }
}

/** Names that no public server answers for, so that whoever resolves them is this machine's. */
const LOCAL_NAME = /^[^.]+$|\.(?:localhost|local|internal|lan|home\.arpa|test)$/;

/** Judges where a request wants to go: first its name, then each address that the name has. */
export class NetworkJudge {
  readonly #allowed: readonly Entry[];
  readonly #denied: readonly Entry[];
  readonly #localPorts: readonly number[];

  constructor(policy: NetworkPolicy) {
    this.#allowed = policy.allowedHosts.map(readEntry);
    this.#denied = policy.deniedHosts.map(readEntry);
    this.#localPorts = policy.allowedLocalPorts;
  }

  /** Before anything is resolved; `listed` says that the policy itself names the host. */
  judgeHost(target: NetTarget, options: { readonly listed?: boolean } = {}): NetVerdict {
    const { host, port } = target;
    const address = addressOf(host);
    if (isMetadataHost(address ?? host)) return metadataVerdict(host);
    const literal = address === null ? null : parseAddress(address);
    const denied = this.#denied.find((entry) => covers(entry, target, literal, touchesRange));
    if (denied !== undefined) return deniedVerdict(denied, host);
    if (options.listed === true) return allow("route", "the upstream of a route");
    if (this.#allowed.length === 0) return allow("default", "no allowed_hosts: every host");
    const allowed = this.#allowed.find((entry) => covers(entry, target, literal, isWithinRange));
    if (allowed !== undefined) return allowedVerdict(allowed);
    const isLocal = literal !== null && addressClass(literal) === "loopback";
    if (isLocal && this.#localPorts.includes(port)) return localPortVerdict(port);
    // Its addresses may lie in a range that is listed: then they decide.
    const mayBeInRange =
      literal === null && this.#allowed.some(({ base, rule }) => base !== null && fits(rule, port));
    if (mayBeInRange) return allow("pending", "its addresses decide");
    return {
      action: "deny",
      ruleId: "allowed_hosts",
      reason: `${host} is not in allowed_hosts`,
      span: null,
      permit: `allowed_hosts = ["${host}"]`,
    };
  }

  /** One resolved address of a host that `judgeHost` let through with `before`. */
  judgeAddress(
    target: NetTarget,
    text: string,
    before: NetVerdict,
    options: { readonly listed?: boolean } = {},
  ): NetVerdict {
    const address = parseAddress(text);
    const { host, port } = target;
    if (address === null) return neverVerdict(host, text, "reserved");
    const kind = addressClass(address);
    if (kind === "metadata") return metadataVerdict(text === host ? host : `${host} (${text})`);
    const denied = this.#denied.find((entry) => inEntry(entry, port, address, touchesRange));
    if (denied !== undefined) return deniedVerdict(denied, `${host} (${text})`);
    if (kind !== "public" && kind !== "private" && kind !== "loopback") {
      return neverVerdict(host, text, kind);
    }
    const listed = this.#allowed.find((entry) => inEntry(entry, port, address, isWithinRange));
    if (listed !== undefined) return before.ruleId === "pending" ? allowedVerdict(listed) : before;
    if (before.ruleId === "pending") {
      return {
        action: "deny",
        ruleId: "allowed_hosts",
        reason: `neither ${host} nor its address ${text} is in allowed_hosts`,
        span: null,
        permit: `allowed_hosts = ["${host}"]`,
      };
    }
    if (kind === "public") return before;
    if (kind === "loopback" && this.#localPorts.includes(port)) return before;
    const isNamed = options.listed === true || this.#allowed.some((each) => isExact(each, target));
    const isLiteral = addressOf(host) !== null;
    if (isNamed && (isLiteral || LOCAL_NAME.test(host) || host === "localhost")) return before;
    return {
      action: "deny",
      ruleId: `builtin:${kind}-address`,
      reason: `${host} leads to the ${kind} address ${text}, which is not listed`,
      span: null,
      permit:
        kind === "loopback"
          ? `allowed_local_ports = [${port}]`
          : `allowed_hosts = ["${text}"], besides what it lists now`,
    };
  }
}

function readEntry({ host, span }: HostEntry): Entry {
  const parsed = parseHostRule(host);
  if (!parsed.ok) throw new Error(`bad host entry: ${parsed.error}`);
  const rule = parsed.value;
  return { rule, base: rule.kind === "range" ? parseAddress(rule.address) : null, span };
}

const fits = (rule: HostRule, port: number): boolean => rule.port === null || rule.port === port;

type InRange = typeof touchesRange;

function covers(
  entry: Entry,
  { host, port }: NetTarget,
  literal: Address | null,
  inRange: InRange,
): boolean {
  const { rule } = entry;
  if (!fits(rule, port)) return false;
  switch (rule.kind) {
    case "name":
      return rule.host === host;
    case "subdomains":
      return host.length > rule.host.length + 1 && host.endsWith(`.${rule.host}`);
    case "range":
      return literal !== null && inEntry(entry, port, literal, inRange);
    default:
      return rule satisfies never;
  }
}

function inEntry({ rule, base }: Entry, port: number, address: Address, inRange: InRange): boolean {
  if (rule.kind !== "range" || base === null || !fits(rule, port)) return false;
  return inRange(address, base, rule.bits);
}

const isExact = ({ rule }: Entry, { host, port }: NetTarget): boolean =>
  rule.kind === "name" && rule.host === host && fits(rule, port);

function allow(ruleId: string, reason: string): NetVerdict {
  return { action: "allow", ruleId, reason, span: null, permit: null };
}

const placeOf = ({ span }: Entry): string => (span === null ? "" : ` (${span.file}:${span.line})`);

function allowedVerdict(entry: Entry): NetVerdict {
  const reason = `"${entry.rule.text}" in allowed_hosts${placeOf(entry)}`;
  return { ...allow(`allowed_hosts:${entry.rule.text}`, reason), span: entry.span };
}

function localPortVerdict(port: number): NetVerdict {
  return allow("allowed_local_ports", `port ${port} in allowed_local_ports`);
}

function deniedVerdict(entry: Entry, what: string): NetVerdict {
  return {
    action: "deny",
    ruleId: `denied_hosts:${entry.rule.text}`,
    reason: `${what} is denied by "${entry.rule.text}" in denied_hosts${placeOf(entry)}`,
    span: entry.span,
    permit: null,
  };
}

function metadataVerdict(what: string): NetVerdict {
  return {
    action: "deny",
    ruleId: "builtin:metadata",
    reason: `${what} is a host of cloud metadata, which no policy opens`,
    span: null,
    permit: null,
  };
}

function neverVerdict(host: string, address: string, kind: AddressClass): NetVerdict {
  return {
    action: "deny",
    ruleId: `builtin:${kind}-address`,
    reason: `${host} leads to the ${kind} address ${address}, which no policy opens`,
    span: null,
    permit: null,
  };
}
