import type { Network, ProxyComparison } from "./network.ts";
import { textTable } from "./text-table.ts";

const times = (value: number | undefined): string =>
  value === undefined || Number.isNaN(value) ? "-" : value.toFixed(2);

/** Rows are what was measured, columns the contestants. */
export function networkTables({ comparisons, efforts, idle }: Network): readonly string[] {
  const names = comparisons[0]?.contestants.map(({ name }) => name) ?? [];
  const proxies = names.slice(1);
  const rounds = comparisons[0]?.rounds;
  const ratioRows = comparisons.map((comparison) => [
    comparison.figure,
    baseText(comparison),
    ...proxies.map((proxy) => times(find(comparison.contestants, proxy)?.ratio)),
  ]);
  const effortRows = efforts.map(({ work, contestants }) => {
    const own = find(contestants, "faraday")?.cpuMs ?? Number.NaN;
    return [work, ...proxies.map((proxy) => times(ratio(find(contestants, proxy)?.cpuMs, own)))];
  });
  const ownKib = find(idle, "faraday")?.kibibytesEach ?? Number.NaN;
  const idleRows = idle.map(({ name, kibibytesEach }) => [
    name,
    kibibytesEach.toFixed(1),
    times(kibibytesEach / ownKib),
  ]);
  return [
    textTable(`Proxies, x direct, ${rounds} rounds`, ["", ...names], ratioRows),
    textTable("Processor time of the proxy, x faraday", ["", ...proxies], effortRows),
    textTable(`${idle[0]?.tunnels} idle tunnels`, ["", "KiB each", "x faraday"], idleRows),
  ];
}

function find<Each extends { readonly name: string }>(
  all: readonly Each[],
  name: string,
): Each | undefined {
  return all.find((each) => each.name === name);
}

const ratio = (value: number | undefined, base: number): number => (value ?? Number.NaN) / base;

function baseText({ contestants, unit }: ProxyComparison): string {
  return `${contestants[0]?.median.toFixed(0)} ${unit}`;
}
