import type { NetworkPolicy } from "./model.ts";
import type { NetworkSettings } from "./read-network.ts";

/** Nearest first: lists add up, each setting and each route is that of the first that has it. */
export function joinNetwork(tables: readonly NetworkSettings[]): NetworkPolicy | null {
  if (tables.length === 0) return null;
  type Setting = "kernelPin" | "checkSni" | "requireEnforced" | "unixSockets" | "blockAll";
  const first = <K extends Setting>(key: K): NetworkSettings[K] =>
    tables.find((table) => table[key] !== undefined)?.[key] as NetworkSettings[K];
  return {
    allowedHosts: tables.flatMap(({ allowedHosts }) => allowedHosts),
    deniedHosts: tables.flatMap(({ deniedHosts }) => deniedHosts),
    kernelPin: first("kernelPin") ?? false,
    allowedLocalPorts: unique(tables.flatMap(({ allowedLocalPorts }) => allowedLocalPorts)),
    allowedBindPorts: unique(tables.flatMap(({ allowedBindPorts }) => allowedBindPorts)),
    unixSockets: first("unixSockets") ?? null,
    checkSni: first("checkSni") ?? true,
    blockAll: first("blockAll") ?? false,
    requireEnforced: first("requireEnforced") ?? true,
    routes: firstOfEach(
      tables.flatMap(({ routes }) => routes),
      ({ name }) => name,
    ),
  };
}

/** Of those with the same key only the first. */
export function firstOfEach<T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  const found = new Map<string, T>();
  for (const item of items) if (!found.has(keyOf(item))) found.set(keyOf(item), item);
  return [...found.values()];
}

const unique = (numbers: readonly number[]): readonly number[] => [...new Set(numbers)];
