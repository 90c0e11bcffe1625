import { readKernelText } from "../../ffi/calls/whole-file.ts";
import type { EphemeralPorts } from "../plan/network-pin.ts";
import { ArgumentMemory } from "./argument-memory.ts";
import { SocketGuard, type SocketGuardParts } from "./socket-guard.ts";

/** A guard with all that the kernel says by itself. */
export function makeSocketGuard(
  parts: Omit<SocketGuardParts, "memory" | "ephemeralPorts">,
): SocketGuard {
  const memory = new ArgumentMemory();
  return new SocketGuard({ ...parts, memory, ephemeralPorts: ephemeralPorts() });
}

/** None where the kernel does not say: then a port that was not named is not allowed. */
function ephemeralPorts(): EphemeralPorts {
  const text = readKernelText("/proc/sys/net/ipv4/ip_local_port_range");
  const [low = 0, high = -1] = (text ?? "").trim().split(/\s+/, 2).map(Number);
  return { low, high };
}
