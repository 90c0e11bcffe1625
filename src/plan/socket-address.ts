import {
  AF_INET,
  AF_INET6,
  AF_UNIX,
  AF_UNSPEC,
  SockaddrIn,
  SockaddrIn6,
  SockaddrUn,
} from "../../ffi/abi/socket.ts";

/** An address as a program hands it to the kernel. */
export type SocketAddress =
  | { readonly kind: "unspecified" }
  | {
      readonly kind: "inet";
      readonly family: typeof AF_INET | typeof AF_INET6;
      /** Dotted or with colons; a mapped IPv4 address is told as IPv4. */
      readonly address: string;
      readonly port: number;
    }
  /** One character a byte. */
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "abstract"; readonly name: string }
  /** Too short for its family, or of a family that is not looked into. */
  | { readonly kind: "other"; readonly family: number };

const FAMILY_BYTES = 2;
/** The kernel takes IPv6 addresses without a scope, as they once were. */
const SOCKADDR_IN6_BYTES_MIN = 24;

export function readSocketAddress(bytes: Uint8Array): SocketAddress {
  if (bytes.length < FAMILY_BYTES) return { kind: "other", family: -1 };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const family = view.getUint16(0, true);
  switch (family) {
    case AF_UNSPEC:
      return { kind: "unspecified" };
    case AF_INET:
      return bytes.length < SockaddrIn.size ? { kind: "other", family } : inet(bytes, view);
    case AF_INET6:
      return bytes.length < SOCKADDR_IN6_BYTES_MIN ? { kind: "other", family } : inet6(bytes, view);
    case AF_UNIX:
      return unix(bytes);
    default:
      return { kind: "other", family };
  }
}

function inet(bytes: Uint8Array, view: DataView): SocketAddress {
  const { at } = SockaddrIn;
  const address = bytes.subarray(at.address, at.address + 4).join(".");
  return { kind: "inet", family: AF_INET, address, port: view.getUint16(at.port) };
}

function inet6(bytes: Uint8Array, view: DataView): SocketAddress {
  const { at } = SockaddrIn6;
  const raw = bytes.subarray(at.address, at.address + 16);
  const isMapped = raw.subarray(0, 10).every((byte) => byte === 0) && raw[10] === 0xff;
  const groups = Array.from({ length: 8 }, (_, index) => view.getUint16(at.address + index * 2));
  const address = isMapped && raw[11] === 0xff ? raw.subarray(12).join(".") : shortened(groups);
  return { kind: "inet", family: AF_INET6, address, port: view.getUint16(at.port) };
}

/** RFC 5952: no leading zeros, the longest run of zeros as `::`. */
function shortened(groups: readonly number[]): string {
  const text = groups.map((group) => group.toString(16)).join(":");
  const runs = [...text.matchAll(/(?<![^:])0(?::0)+(?![^:])/g)];
  const [longest] = runs.toSorted((a, b) => b[0].length - a[0].length);
  if (longest === undefined) return text;
  const before = text.slice(0, longest.index).replace(/:$/, "");
  const after = text.slice(longest.index + longest[0].length).replace(/^:/, "");
  return `${before}::${after}`;
}

function unix(bytes: Uint8Array): SocketAddress {
  const name = bytes.subarray(SockaddrUn.at.path);
  if (bytes.length > SockaddrUn.size || name.length === 0) {
    return { kind: "other", family: AF_UNIX };
  }
  if (name[0] === 0) return { kind: "abstract", name: latin1(name.subarray(1)) };
  const end = name.indexOf(0);
  return { kind: "path", path: latin1(end < 0 ? name : name.subarray(0, end)) };
}

const latin1 = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

const LOOPBACK_4 = [127, 0, 0, 1];

/** Our own loopback address for a connect, with nothing in it that the program has chosen. */
export function loopbackAddress(
  family: typeof AF_INET | typeof AF_INET6,
  address: "127.0.0.1" | "::1",
  port: number,
): Uint8Array {
  const isFour = family === AF_INET;
  const bytes = new Uint8Array(isFour ? SockaddrIn.size : SockaddrIn6.size);
  const view = new DataView(bytes.buffer);
  view.setUint16(SockaddrIn.at.family, family, true);
  // Both families have it in the same place.
  view.setUint16(SockaddrIn.at.port, port);
  if (isFour) bytes.set(LOOPBACK_4, SockaddrIn.at.address);
  else {
    const last = address === "::1" ? [1] : [0xff, 0xff, ...LOOPBACK_4];
    bytes.set(last, SockaddrIn6.at.address + 16 - last.length);
  }
  return bytes;
}

export function disconnectAddress(): Uint8Array {
  return new Uint8Array(SockaddrIn.size);
}

/** `path` holds one character a byte. */
export function unixAddress(path: string): Uint8Array {
  const bytes = new Uint8Array(SockaddrUn.at.path + path.length + 1);
  new DataView(bytes.buffer).setUint16(SockaddrUn.at.family, AF_UNIX, true);
  bytes.set(
    Array.from(path, (character) => character.charCodeAt(0)),
    SockaddrUn.at.path,
  );
  return bytes;
}
