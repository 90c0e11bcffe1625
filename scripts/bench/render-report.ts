import type { EngineSpeed } from "./engine.ts";
import type { GrantCost } from "./grants.ts";
import type { Timing } from "./measure.ts";
import type { Memory } from "./memory.ts";
import type { Network } from "./network.ts";
import { networkTables } from "./network-tables.ts";
import type { SealedWork } from "./sealed-tree.ts";
import type { SpawnLoop } from "./spawn-loop.ts";
import { type Row, textTable } from "./text-table.ts";

/** Raised only when a field changes its meaning or goes away. */
export const REPORT_VERSION = 1;

export interface BenchReport {
  readonly v: typeof REPORT_VERSION;
  readonly faraday: string;
  readonly kernel: string;
  readonly cpus: number;
  readonly load: { readonly before: number; readonly after: number };
  readonly spawnLoops?: readonly SpawnLoop[];
  readonly startUp?: readonly Timing[];
  readonly grants?: readonly GrantCost[];
  readonly files?: readonly SealedWork[];
  readonly engine?: readonly EngineSpeed[];
  readonly memory?: Memory;
  readonly network?: Network;
}

const ms = (value: number): string => value.toFixed(value < 100 ? 2 : 0);
const times = (value: number): string => value.toFixed(2);
const mib = (kib: number): string => (kib / 1024).toFixed(1);

const TIMING_HEAD = ["", "median ms", "x bare", "rounds' range", "CPU x bare"] as const;

const timingRow = ({ name, medianMs, ratio, ratioLow, ratioHigh, cpuRatio }: Timing): Row => [
  name,
  ms(medianMs),
  times(ratio),
  `${times(ratioLow)}-${times(ratioHigh)}`,
  times(cpuRatio),
];

function startUpTable(timings: readonly Timing[]): string {
  const bwrap = timings.find(({ name }) => name === "bwrap");
  const rows = timings.map((each) => {
    const toBwrap = bwrap === undefined ? "-" : times(each.ratio / bwrap.ratio);
    return [...timingRow(each), toBwrap];
  });
  const head = [...TIMING_HEAD, "x bwrap"];
  return textTable(`Start-up: one /bin/true, ${timings[0]?.rounds} rounds`, head, rows);
}

function grantsTable(grants: readonly GrantCost[]): string {
  const rows = grants.map(({ timing, addedMs }) => [
    timing.name,
    ms(timing.medianMs),
    ms(timing.leastMs),
    ms(addedMs),
  ]);
  const head = ["", "median ms", "least ms", "added ms"];
  return textTable(`Start-up by grants, ${grants[0]?.timing.rounds} rounds`, head, rows);
}

export function renderReport(report: BenchReport): string {
  const { load } = report;
  const parts = [
    `faraday ${report.faraday}, Linux ${report.kernel}, ${report.cpus} CPUs, ` +
      `load average ${times(load.before)} before and ${times(load.after)} after\n`,
  ];
  for (const { loop, spawns, timings } of report.spawnLoops ?? []) {
    const title = `Spawn loop (${loop}): ${spawns} x /bin/true, ${timings[0]?.rounds} rounds`;
    parts.push(textTable(title, TIMING_HEAD, timings.map(timingRow)));
  }
  if (report.startUp !== undefined) parts.push(startUpTable(report.startUp));
  if (report.grants !== undefined) parts.push(grantsTable(report.grants));
  for (const { work, timings } of report.files ?? []) {
    const head = [...TIMING_HEAD, "least ms"];
    const rows = timings.map((each) => [...timingRow(each), ms(each.leastMs)]);
    parts.push(textTable(`Sealed files: ${work}, ${timings[0]?.rounds} rounds`, head, rows));
  }
  if (report.engine !== undefined) {
    const rows = report.engine.map(({ rules, kind, verdictsPerSecond, ratio }) => [
      `${rules} rules, ${kind}`,
      Math.round(verdictsPerSecond).toLocaleString("en"),
      ratio.toPrecision(2),
    ]);
    parts.push(textTable("Engine alone", ["", "verdicts/s", "x 10 rules"], rows));
  }
  if (report.memory !== undefined) {
    const rows = report.memory.samples.map(({ execs, rssKib, anonymousKib }) => [
      `${execs} execs`,
      mib(rssKib),
      mib(anonymousKib),
    ]);
    const title = `Supervisor's memory, last to first ${times(report.memory.ratio)}`;
    parts.push(textTable(title, ["", "RSS MiB", "anonymous MiB"], rows));
  }
  if (report.network !== undefined) {
    const { pinned } = report.network;
    parts.push(...networkTables(report.network));
    if (pinned !== null) {
      const title = `Pinned connect: ${pinned.connects} x, ${pinned.timings[0]?.rounds} rounds`;
      parts.push(textTable(title, TIMING_HEAD, pinned.timings.map(timingRow)));
    }
  }
  return parts.join("\n");
}
