/**
 * Host names in the one spelling in which they can be compared: what a WHATWG URL parser makes of
 * them (lower case, punycode, `0x7f.1` as 127.0.0.1), without a trailing dot, and an IPv4 address
 * wrapped in IPv6 as the address that it leads to.
 */
import { err, ok, type Result } from "./result.ts";

/** A plain name. A last label that is a number would make it an IPv4 address in some spelling. */
const PLAIN = /^(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*\.?$/;
const PUNYCODE = /(?:^|\.)xn--/;

/** The canonical host of an authority without userinfo (`Host:8080`), or null if it has none. */
export function canonicalHost(hostAndPort: string): string | null {
  if (PLAIN.test(hostAndPort) && !PUNYCODE.test(hostAndPort)) return trimDot(hostAndPort);
  try {
    const { hostname } = new URL(`http://${hostAndPort}/`);
    return hostname === "" ? null : plainAddress(trimDot(hostname));
  } catch {
    return withoutPort(hostAndPort);
  }
}

/** `host:99999` and `host:x` are no URLs, but programs that cut at the colon still connect. */
function withoutPort(hostAndPort: string): string | null {
  const colon = hostAndPort.lastIndexOf(":");
  if (colon <= 0 || hostAndPort.endsWith("]")) return null;
  try {
    const { hostname } = new URL(`http://${hostAndPort.slice(0, colon)}/`);
    return hostname === "" ? null : plainAddress(trimDot(hostname));
  } catch {
    return null;
  }
}

function trimDot(host: string): string {
  return host.endsWith(".") ? host.slice(0, -1) : host;
}

/** `[::ffff:a9fe:a9fe]` is 169.254.169.254 to the kernel. */
function plainAddress(host: string): string {
  const groups = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host);
  if (groups === null) return host;
  const high = Number.parseInt(groups[1] ?? "", 16);
  const low = Number.parseInt(groups[2] ?? "", 16);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** A list of exact hosts and `*.suffix` entries. */
export class HostList {
  readonly #exact = new Set<string>();
  readonly #suffixes: string[] = [];

  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const parsed = parseHostEntry(entry);
      if (!parsed.ok) throw new Error(`bad host entry: ${parsed.error}`);
      if (parsed.value.subdomains) this.#suffixes.push(`.${parsed.value.host}`);
      else this.#exact.add(parsed.value.host);
    }
  }

  /** Takes a canonical host. */
  has(host: string): boolean {
    if (this.#exact.has(host)) return true;
    for (const suffix of this.#suffixes) {
      if (host.length > suffix.length && host.endsWith(suffix)) return true;
    }
    return false;
  }
}

export interface HostEntry {
  readonly host: string;
  /** `*.example.com`: the subdomains of the host and not the host itself. */
  readonly subdomains: boolean;
}

/** Reads an entry of a host list; the error is a sentence. */
export function parseHostEntry(entry: string): Result<HostEntry, string> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(entry)) return err("a host has no scheme");
  if (/[/\\?#]/.test(entry)) return err("a host has no path");
  if (entry.includes("@")) return err("a host has no user name");
  const subdomains = entry.startsWith("*.");
  const name = subdomains ? entry.slice(2) : entry;
  if (name.includes("*")) return err("`*` stands only for whole subdomains, as in `*.example.com`");
  // A bare IPv6 address is meant where a second colon is; a single colon would be a port.
  const bareIpv6 = /^[0-9a-f:.]*:[0-9a-f.]*:[0-9a-f:.]*$/i.test(name);
  if (!bareIpv6 && /:[^\]]*$/.test(name)) return err("a host has no port: every port is meant");
  try {
    const { hostname } = new URL(`http://${bareIpv6 ? `[${name}]` : name}/`);
    const host = plainAddress(trimDot(hostname));
    if (host === "" || name === "") return err("this is no host name");
    if (subdomains && /^\[|^[0-9.]+$/.test(host)) return err("an address has no subdomains");
    return ok({ host, subdomains });
  } catch {
    return err("this is no host name");
  }
}
