import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, median } from "./measure.ts";
import { benchPinnedConnect, type PinnedConnect } from "./pinned-connect.ts";
import type { ProxyClient } from "./proxy-client.ts";
import { type Contestant, getHead, startContestants, stopContestants } from "./proxy-contestant.ts";
import { openTunnel, PROXY_LOADS, type ProxyLoad } from "./proxy-load.ts";

/** One contestant's figure, and how it stands to that of the same round without a proxy. */
export interface ProxyFigure {
  readonly name: string;
  readonly median: number;
  readonly ratio: number;
  readonly ratioLow: number;
  readonly ratioHigh: number;
}

export interface ProxyComparison {
  readonly figure: string;
  readonly unit: string;
  readonly rounds: number;
  readonly contestants: readonly ProxyFigure[];
}

/** What of the processor the proxy itself took for all rounds of a load. */
export interface ProxyEffort {
  readonly work: string;
  readonly contestants: readonly { readonly name: string; readonly cpuMs: number }[];
}

export interface IdleTunnels {
  readonly name: string;
  readonly tunnels: number;
  /** Of the proxy's process, without the kernel's buffers. */
  readonly kibibytesEach: number;
}

export interface Network {
  readonly comparisons: readonly ProxyComparison[];
  readonly efforts: readonly ProxyEffort[];
  readonly idle: readonly IdleTunnels[];
  /** Null: this machine lacks what it needs. */
  readonly pinned: PinnedConnect | null;
}

const ORIGIN = join(import.meta.dir, "proxy-origin.ts");
const TICK_MS = 10;
const WARM_TUNNELS = 50;

/** Faraday's proxy between a client and a server on this machine, beside other proxies. */
export async function benchNetwork(bench: Bench): Promise<Network> {
  const server = Bun.spawn([process.execPath, ORIGIN], { stdin: "pipe", stdout: "pipe" });
  try {
    const { value } = await server.stdout.getReader().read();
    const origin = Number(new TextDecoder().decode(value));
    const contestants = await startContestants(bench.place, origin, bench.progress);
    try {
      return await measureAll(contestants, origin, bench);
    } finally {
      await stopContestants(contestants);
    }
  } finally {
    server.kill("SIGKILL");
  }
}

async function measureAll(
  contestants: readonly Contestant[],
  origin: number,
  bench: Bench,
): Promise<Network> {
  // Memory first: what a process has once taken for a load it seldom gives back.
  const idle: IdleTunnels[] = [];
  for (const each of contestants) {
    if (each.process === null) continue;
    bench.progress(`network, idle tunnels: ${each.name}`);
    idle.push(await idleTunnels(each, origin, bench.scale.idleTunnels));
  }
  const comparisons: ProxyComparison[] = [];
  const efforts: ProxyEffort[] = [];
  for (const load of PROXY_LOADS) {
    const able = contestants.filter(({ name }) => !load.leftOut.includes(name));
    const measured = await measureLoad(load, able, origin, bench);
    comparisons.push(...measured.comparisons);
    efforts.push(measured.effort);
  }
  return { comparisons, efforts, idle, pinned: benchPinnedConnect(bench, origin) };
}

/** All contestants in turn, forwards and backwards, so that a busy minute hits all of them. */
async function measureLoad(
  load: ProxyLoad,
  contestants: readonly Contestant[],
  origin: number,
  { scale, progress }: Bench,
): Promise<{ comparisons: readonly ProxyComparison[]; effort: ProxyEffort }> {
  const results = new Map(contestants.map(({ name }) => [name, [] as number[][]]));
  const cpuMs = new Map<string, number>();
  for (const each of contestants) await load.round(each, origin, scale);
  for (let round = 0; round < scale.networkRounds; round++) {
    progress(`network, ${load.work}: round ${round + 1} of ${scale.networkRounds}`);
    for (const each of round % 2 === 0 ? contestants : contestants.toReversed()) {
      const before = cpuTimeMs(each);
      results.get(each.name)?.push(await load.round(each, origin, scale));
      cpuMs.set(each.name, (cpuMs.get(each.name) ?? 0) + cpuTimeMs(each) - before);
    }
  }
  const base = results.get(contestants[0]?.name ?? "") ?? [];
  const comparisons = load.figures.map(({ name: figure, unit }, at) => ({
    figure,
    unit,
    rounds: scale.networkRounds,
    contestants: contestants.map(({ name }): ProxyFigure => {
      const values = (results.get(name) ?? []).map((round) => round[at] ?? Number.NaN);
      const ratios = values.map((value, round) => value / (base[round]?.[at] ?? Number.NaN));
      return {
        name,
        median: median(values),
        ratio: median(ratios),
        ratioLow: Math.min(...ratios),
        ratioHigh: Math.max(...ratios),
      };
    }),
  }));
  const efforts = contestants
    .filter(({ process }) => process !== null)
    .map(({ name }) => ({ name, cpuMs: cpuMs.get(name) ?? Number.NaN }));
  return { comparisons, effort: { work: load.work, contestants: efforts } };
}

/** Tunnels that have each carried a request and now carry nothing. */
async function idleTunnels(
  contestant: Contestant,
  origin: number,
  tunnels: number,
): Promise<IdleTunnels> {
  const held: ProxyClient[] = [];
  const hold = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) {
      const client = await openTunnel(contestant, origin);
      await client.ask(getHead(origin, 1, ""), 1);
      held.push(client);
    }
  };
  await hold(WARM_TUNNELS);
  const before = anonymousKib(contestant);
  await hold(tunnels);
  const kibibytesEach = (anonymousKib(contestant) - before) / tunnels;
  for (const client of held) client.close();
  return { name: contestant.name, tunnels, kibibytesEach };
}

function anonymousKib({ process }: Contestant): number {
  if (process === null) return 0;
  const status = readFileSync(`/proc/${process.pid}/status`, "utf8");
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN);
}

function cpuTimeMs({ process }: Contestant): number {
  if (process === null) return 0;
  const stat = readFileSync(`/proc/${process.pid}/stat`, "utf8");
  // Behind the name, which may hold anything; user and system time are the 12th and 13th field.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
