import type { Scale } from "./measure.ts";
import { ProxyClient } from "./proxy-client.ts";
import { type Contestant, connectHead, getHead } from "./proxy-contestant.ts";

/** One kind of traffic, and the figures that one round of it gives. */
export interface ProxyLoad {
  readonly work: string;
  readonly figures: readonly Figure[];
  /** The peers that cannot do it. */
  readonly leftOut: readonly string[];
  readonly round: (contestant: Contestant, origin: number, scale: Scale) => Promise<number[]>;
}

export interface Figure {
  readonly name: string;
  readonly unit: string;
}

const SMALL_BYTES = 100;
const MIB = 1024 * 1024;

/** The sorted times of one small request after the other. */
async function sorted(count: number, request: () => Promise<void>): Promise<number[]> {
  const timesUs = new Float64Array(count);
  for (let n = 0; n < count; n++) {
    const begin = Bun.nanoseconds();
    await request();
    timesUs[n] = (Bun.nanoseconds() - begin) / 1000;
  }
  timesUs.sort();
  return [0.5, 0.99].map((part) => timesUs[Math.floor(count * part)] ?? Number.NaN);
}

const percentiles = (name: string): readonly Figure[] => [
  { name: `${name}: p50`, unit: "µs" },
  { name: `${name}: p99`, unit: "µs" },
];

export async function openTunnel({ port, auth }: Contestant, origin: number): Promise<ProxyClient> {
  const client = await ProxyClient.to(port);
  await client.ask(connectHead(origin, auth), 0);
  return client;
}

/** The rate of one large answer. */
async function bulk(client: ProxyClient, head: string, mib: number): Promise<number[]> {
  const begin = Bun.nanoseconds();
  await client.ask(head, mib * MIB);
  const seconds = (Bun.nanoseconds() - begin) / 1e9;
  client.close();
  return [mib / seconds];
}

/** Opens and closes so many tunnels, some of them at once. */
async function tunnelRate(contestant: Contestant, origin: number, scale: Scale): Promise<number[]> {
  const { tunnels, tunnelsAtOnce } = scale;
  let left = tunnels;
  const worker = async (): Promise<void> => {
    while (left-- > 0) (await openTunnel(contestant, origin)).close();
  };
  const begin = Bun.nanoseconds();
  await Promise.all(Array.from({ length: tunnelsAtOnce }, worker));
  return [tunnels / ((Bun.nanoseconds() - begin) / 1e9)];
}

export const PROXY_LOADS: readonly ProxyLoad[] = [
  {
    work: "bulk, tunnel",
    figures: [{ name: "bulk through a tunnel", unit: "MiB/s" }],
    leftOut: [],
    round: async (contestant, origin, { bulkMib }) => {
      const client = await openTunnel(contestant, origin);
      return bulk(client, getHead(origin, bulkMib * MIB, ""), bulkMib);
    },
  },
  {
    work: "bulk, HTTP",
    figures: [{ name: "bulk over plain HTTP", unit: "MiB/s" }],
    leftOut: [],
    round: async ({ port, auth }, origin, { bulkMib }) => {
      const client = await ProxyClient.to(port);
      return bulk(client, getHead(origin, bulkMib * MIB, auth), bulkMib);
    },
  },
  {
    work: "tunnels",
    figures: [{ name: "tunnels opened", unit: "/s" }],
    leftOut: [],
    round: tunnelRate,
  },
  {
    work: "requests, tunnel",
    figures: percentiles("request in an open tunnel"),
    leftOut: [],
    round: async (contestant, origin, { requests }) => {
      const client = await openTunnel(contestant, origin);
      const head = getHead(origin, SMALL_BYTES, "");
      const times = await sorted(requests, () => client.ask(head, SMALL_BYTES));
      client.close();
      return times;
    },
  },
  {
    work: "requests, HTTP, kept",
    figures: percentiles("GET, a kept connection"),
    // It ends the connection behind each answer.
    leftOut: ["tinyproxy"],
    round: async ({ port, auth }, origin, { requests }) => {
      const client = await ProxyClient.to(port);
      const head = getHead(origin, SMALL_BYTES, auth);
      const times = await sorted(requests, () => client.ask(head, SMALL_BYTES));
      client.close();
      return times;
    },
  },
  {
    work: "requests, HTTP",
    figures: percentiles("GET, a connection each"),
    leftOut: [],
    round: ({ port, auth }, origin, { requests }) => {
      const head = getHead(origin, SMALL_BYTES, auth);
      return sorted(Math.ceil(requests / 2), async () => {
        const client = await ProxyClient.to(port);
        await client.ask(head, SMALL_BYTES);
        client.close();
      });
    },
  },
];
