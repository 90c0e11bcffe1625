/** What kind of place an IP address is; `ipaddr.js` knows the ranges, this the ways around them. */
import ipaddr from "ipaddr.js";
import { METADATA_ADDRESSES } from "./metadata-hosts.ts";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** From the one that is refused first to the one that is not. */
const CLASSES = [
  "metadata",
  "link-local",
  "unspecified",
  "multicast",
  "reserved",
  "loopback",
  "private",
  "public",
] as const;
export type AddressClass = (typeof CLASSES)[number];

/** An address as a resolver gives it; null if it is none. */
export function parseAddress(text: string): Address | null {
  // A zone names an interface of this machine: only link-local addresses have one.
  if (text.includes("%") || !/^[0-9a-fA-F.:]+$/.test(text)) return null;
  if (!text.includes(":") && !/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return null;
  return ipaddr.isValid(text) ? ipaddr.parse(text) : null;
}

/** The strictest class of the address itself and of every IPv4 address that it leads to. */
export function addressClass(address: Address): AddressClass {
  const found = [address, ...embedded(address)].map(ownClass);
  return CLASSES.find((each) => found.includes(each)) ?? "reserved";
}

/** Whether the address, or some IPv4 address that it leads to, lies in the range. */
export function touchesRange(address: Address, base: Address, bits: number): boolean {
  return [address, ...embedded(address)].some((each) => isIn(each, base, bits));
}

/** Whether the address itself, or every IPv4 address that it leads to, lies in the range. */
export function isWithinRange(address: Address, base: Address, bits: number): boolean {
  if (isIn(address, base, bits)) return true;
  const leads = embedded(address);
  return leads.length > 0 && leads.every((each) => isIn(each, base, bits));
}

function isIn(address: Address, base: Address, bits: number): boolean {
  return address.kind() === base.kind() && address.match([base, bits] as [ipaddr.IPv4, number]);
}

const METADATA = METADATA_ADDRESSES.map((each) => ipaddr.parse(each).toNormalizedString());

const IPV4_CLASSES: Readonly<Record<string, AddressClass>> = {
  unicast: "public",
  unspecified: "unspecified",
  broadcast: "reserved",
  multicast: "multicast",
  linkLocal: "link-local",
  loopback: "loopback",
  carrierGradeNat: "private",
  private: "private",
};

const IPV6_CLASSES: Readonly<Record<string, AddressClass>> = {
  unicast: "public",
  unspecified: "unspecified",
  linkLocal: "link-local",
  multicast: "multicast",
  loopback: "loopback",
  uniqueLocal: "private",
  // What these lead to is judged by the IPv4 address in them.
  ipv4Mapped: "public",
  rfc6145: "public",
  rfc6052: "public",
  "6to4": "public",
  teredo: "public",
};

const BENCHMARKING: readonly [ipaddr.IPv4, number] = [ipaddr.IPv4.parse("198.18.0.0"), 15];
const SITE_LOCAL: readonly [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("fec0::"), 10];
/** Private translation prefixes: where they lead is up to the network. */
const LOCAL_NAT64: readonly [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("64:ff9b:1::"), 48];

function ownClass(address: Address): AddressClass {
  if (METADATA.includes(address.toNormalizedString())) return "metadata";
  if (address.kind() === "ipv4") {
    const v4 = address as ipaddr.IPv4;
    if (v4.match([...BENCHMARKING])) return "private";
    return IPV4_CLASSES[v4.range()] ?? "reserved";
  }
  const v6 = address as ipaddr.IPv6;
  if (v6.match([...SITE_LOCAL]) || v6.match([...LOCAL_NAT64])) return "private";
  const [high] = v6.parts;
  // All that is assigned for use lies in 2000::/3; the transitional prefixes are told apart above.
  const known = IPV6_CLASSES[v6.range()] ?? "reserved";
  if (known === "public" && v6.range() === "unicast" && !isCompatible(v6)) {
    return high !== undefined && high >= 0x2000 && high <= 0x3fff ? "public" : "reserved";
  }
  return known;
}

/** `::a.b.c.d`, which is deprecated, but which some kernels still route. */
function isCompatible({ parts }: ipaddr.IPv6): boolean {
  return parts.slice(0, 6).every((part) => part === 0);
}

/** The IPv4 addresses inside an IPv6 address, by every scheme that translates or tunnels. */
function embedded(address: Address): ipaddr.IPv4[] {
  if (address.kind() === "ipv4") return [];
  const v6 = address as ipaddr.IPv6;
  const parts = v6.parts;
  const at = (index: number, flip = 0): ipaddr.IPv4 => {
    const high = (parts[index] ?? 0) ^ flip;
    const low = (parts[index + 1] ?? 0) ^ flip;
    return new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255]);
  };
  const found: ipaddr.IPv4[] = [];
  const range = v6.range();
  if (range === "ipv4Mapped" || range === "rfc6145" || range === "rfc6052") found.push(at(6));
  else if (range === "6to4") found.push(at(1));
  // Teredo: the server in the clear, the client with its bits turned around.
  else if (range === "teredo") found.push(at(2), at(6, 0xffff));
  else if (isCompatible(v6) && range !== "loopback" && range !== "unspecified") found.push(at(6));
  // ISATAP marks its interface identifiers.
  if (parts[5] === 0x5efe && ((parts[4] ?? 0) & 0xfdff) === 0) found.push(at(6));
  return found;
}
