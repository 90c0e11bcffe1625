import {
  NET_BIND_TCP,
  NET_CONNECT_TCP,
  NET_SINCE_ABI,
  SCOPE_ABSTRACT_UNIX_SOCKET,
  SCOPES_SINCE_ABI,
} from "../../ffi/abi/landlock.ts";
import { compileGlob, parseGlob } from "../policy/glob-pattern.ts";
import type { NetworkPolicy, PathGrant } from "../policy/model.ts";
import type { LandlockPlan } from "./launch-plan.ts";
import type { NetworkHold } from "./network-filter.ts";
import { absolutePath, isBeneath } from "./path-facts.ts";
import type { SocketAddress } from "./socket-address.ts";

/** What the supervisor judges sockets by; plain data, so that it can be cloned into the Worker. */
export interface NetworkPin {
  /** `unix`: only sockets by path are judged. */
  readonly hold: Exclude<NetworkHold, "open">;
  /** Nothing is open, whatever the lists of the policy say. */
  readonly isBlocked: boolean;
  /** Where the proxy listens, on 127.0.0.1; null if there is none. */
  readonly proxyPort: number | null;
  readonly localPorts: readonly number[];
  readonly bindPorts: readonly number[];
  /** Trees whose sockets may be connected to, one character a byte. */
  readonly unixTrees: readonly string[];
  /** Absolute globs of the same, as text. */
  readonly unixGlobs: readonly string[];
}

export interface PinRequest {
  readonly network: NetworkPolicy | null;
  /** Trees that the agent may write, one character a byte; null where no files are sealed. */
  readonly writableTrees: readonly string[] | null;
  readonly cwd: string;
}

/** Null where nothing has to be judged. */
export function networkPin({ network, writableTrees, cwd }: PinRequest): NetworkPin | null {
  const isPinned = network !== null && (network.kernelPin || network.blockAll);
  const unixSockets = network?.unixSockets ?? null;
  if (!isPinned && writableTrees === null) return null;
  const isOpen = isPinned && !network.blockAll;
  return {
    hold: isPinned ? "pin" : "unix",
    isBlocked: isPinned && network.blockAll,
    proxyPort: null,
    localPorts: isOpen ? network.allowedLocalPorts : [],
    bindPorts: isOpen ? network.allowedBindPorts : [],
    // Without a seal every file is writable, and among them are the sockets of services that
    // would do the agent's networking for it: then only those count that the policy names.
    unixTrees: unixSockets === null ? (writableTrees ?? []) : [],
    unixGlobs: (unixSockets ?? []).map((grant) => absoluteGlob(grant, cwd)),
  };
}

function absoluteGlob({ glob }: PathGrant, cwd: string): string {
  return absolutePath(glob, cwd);
}

/**
 * The pin as a second layer in the kernel. The supervisor connects for the agent and has no domain,
 * so that the agent itself needs no port at all.
 */
export function withPorts(
  landlock: LandlockPlan,
  pin: NetworkPin | null,
  landlockAbi: number,
): LandlockPlan {
  if (pin?.hold !== "pin") return landlock;
  const scope = landlockAbi >= SCOPES_SINCE_ABI ? SCOPE_ABSTRACT_UNIX_SOCKET : 0;
  const scoped = landlock.scoped | scope;
  if (landlockAbi < NET_SINCE_ABI) return { ...landlock, scoped };
  const ports = pin.bindPorts.map((port) => ({ port, access: NET_BIND_TCP }));
  return { ...landlock, scoped, handledNet: NET_BIND_TCP | NET_CONNECT_TCP, ports };
}

/** Where a connect really goes, or why it does not. */
export type InetVerdict =
  | { readonly action: "allow"; readonly address: "127.0.0.1" | "::1"; readonly port: number }
  | { readonly action: "deny"; readonly reason: string; readonly grant: string | null };

type InetAddress = Extract<SocketAddress, { kind: "inet" }>;

/** What nothing but the end of the block would allow. */
export const BLOCKED = "the network is blocked as a whole";

/** Tells whether it is the agent itself that listens at a local port. */
export type IsOwnPort = (port: number) => boolean;

/**
 * Only the loopback addresses themselves: the rest of 127.0.0.0/8 is other services. The "any"
 * address means loopback to the kernel, unless the socket is bound to another one, so it is
 * replaced. At ::1 somebody else may have the proxy's port.
 */
export function judgeConnect(
  pin: NetworkPin,
  { address, port }: InetAddress,
  isOwnPort: IsOwnPort,
): InetVerdict {
  if (pin.isBlocked) return { action: "deny", reason: BLOCKED, grant: null };
  const isFour = address === "127.0.0.1" || address === "0.0.0.0";
  const isSix = address === "::1" || address === "::";
  if (!isFour && !isSix) {
    const reason = "the kernel pin lets nothing but the proxy and local ports be connected to";
    return { action: "deny", reason, grant: null };
  }
  const isProxy = isFour && port === pin.proxyPort;
  if (isProxy || pin.localPorts.includes(port) || isOwnPort(port)) {
    return { action: "allow", address: isFour ? "127.0.0.1" : "::1", port };
  }
  return {
    action: "deny",
    reason: `port ${port} of this machine is not among the allowed local ports`,
    grant: `allowed_local_ports = [${port}]`,
  };
}

/** The ports that the kernel gives to those who bind to port 0, both ends included. */
export interface EphemeralPorts {
  readonly low: number;
  readonly high: number;
}

/** Whether a socket bound to this port may listen; port 0 is one that is not bound yet. */
export function mayListen(pin: NetworkPin, port: number, { low, high }: EphemeralPorts): boolean {
  if (pin.bindPorts.includes(port)) return true;
  return pin.bindPorts.includes(0) && port >= low && port <= high;
}

/** Tells by its real path (one character a byte, and as text) whether a socket may be reached. */
export class UnixSockets {
  readonly #trees: readonly string[];
  readonly #globs: readonly ((path: string) => boolean)[];

  constructor({ unixTrees, unixGlobs }: NetworkPin) {
    this.#trees = unixTrees;
    this.#globs = unixGlobs.flatMap((glob) => {
      const tokens = parseGlob(glob);
      // The policy was checked when it was read; what cannot be read grants nothing.
      return tokens.ok ? [compileGlob(tokens.value)] : [];
    });
  }

  covers(bytesPath: string, textPath: string): boolean {
    return (
      this.#trees.some((tree) => isBeneath(bytesPath, tree)) ||
      this.#globs.some((matches) => matches(textPath))
    );
  }
}
