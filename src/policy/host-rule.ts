/**
 * Entries of the network's host lists: what a name, an address, a range or a port in them means.
 * Only their form is read here; `network-judge.ts` compares addresses.
 */
import { parseHostEntry } from "./host-name.ts";
import { err, ok, type Result } from "./result.ts";

export type HostRule = {
  readonly text: string;
  /** Null: every port. */
  readonly port: number | null;
} & (
  | { readonly kind: "name"; readonly host: string }
  /** The subdomains of `host`, and not `host` itself. */
  | { readonly kind: "subdomains"; readonly host: string }
  /** `address` is canonical and without brackets; a single address has all its bits. */
  | { readonly kind: "range"; readonly address: string; readonly bits: number }
);

export const PORT_MAX = 65_535;

/** `[::1]:80`, `[fd00::/8]`, `host:80`, `10.0.0.0/8:443`, and an IPv6 address without brackets. */
const BRACKETED = /^\[([^\]]*)\](?::([0-9]+))?$/;
const WITH_PORT = /^([^:[\]]*):([0-9]+)$/;

/** Reads an entry; the error is a sentence. */
export function parseHostRule(entry: string): Result<HostRule, string> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(entry)) return err("a host has no scheme");
  const parts = BRACKETED.exec(entry) ?? WITH_PORT.exec(entry);
  const name = parts?.[1] ?? entry;
  const port = readPort(parts?.[2]);
  if (port === undefined) return err(`a port is a number from 1 to ${PORT_MAX}`);
  const slash = name.indexOf("/");
  if (slash >= 0) return readRange(entry, name, slash, port);
  const parsed = parseHostEntry(name);
  if (!parsed.ok) return parsed;
  const { host, subdomains } = parsed.value;
  if (subdomains) return ok({ text: entry, port, kind: "subdomains", host });
  const address = addressOf(host);
  if (address === null) {
    if (entry.startsWith("[")) return err("only an IPv6 address stands in brackets");
    return ok({ text: entry, port, kind: "name", host });
  }
  const bits = address.includes(":") ? 128 : 32;
  return ok({ text: entry, port, kind: "range", address, bits });
}

function readPort(text: string | undefined): number | null | undefined {
  if (text === undefined) return null;
  const port = Number(text);
  return port >= 1 && port <= PORT_MAX ? port : undefined;
}

function readRange(
  entry: string,
  name: string,
  slash: number,
  port: number | null,
): Result<HostRule, string> {
  const base = parseHostEntry(name.slice(0, slash));
  const address = base.ok && !base.value.subdomains ? addressOf(base.value.host) : null;
  if (address === null) return err("a host has no path");
  const length = name.slice(slash + 1);
  const bitsMax = address.includes(":") ? 128 : 32;
  const bits = /^[0-9]{1,3}$/.test(length) ? Number(length) : Number.NaN;
  if (!(bits <= bitsMax)) return err(`a range has 0 to ${bitsMax} bits, not \`${length}\``);
  return ok({ text: entry, port, kind: "range", address, bits });
}

/** A canonical host without its brackets, if it is an address. */
export function addressOf(host: string): string | null {
  if (host.startsWith("[")) return host.slice(1, -1);
  return /^[0-9]+(?:\.[0-9]+){3}$/.test(host) ? host : null;
}
