/**
 * Measures what Faraday costs, as ratios within one run: times differ from machine to machine.
 *   npm run bench                 everything, some minutes
 *   npm run bench -- --quick      the same with less of each, for a first look
 *   npm run bench -- --memory     memory over 100,000 execs instead of 5,000
 *   npm run bench -- --only NAME  one part: spawn, start, grants, files, engine, memory or network
 *   npm run bench -- --json       one object for programs
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, release, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../package.json" with { type: "json" };
import { benchEngine } from "./bench/engine.ts";
import { benchGrants } from "./bench/grants.ts";
import { type Bench, FARADAY, type Scale } from "./bench/measure.ts";
import { benchMemory } from "./bench/memory.ts";
import { benchNetwork } from "./bench/network.ts";
import { type BenchReport, REPORT_VERSION, renderReport } from "./bench/render-report.ts";
import { benchSealedTree } from "./bench/sealed-tree.ts";
import { benchSpawnLoop } from "./bench/spawn-loop.ts";
import { benchStartUp } from "./bench/start-up.ts";

const FULL: Scale = {
  spawns: 2_000,
  spawnRounds: 7,
  startRounds: 30,
  engineMs: 200,
  memoryExecs: 5_000,
  memoryStep: 1_000,
  files: 50_000,
  fileRounds: 15,
  networkRounds: 11,
  bulkMib: 256,
  tunnels: 1_000,
  tunnelsAtOnce: 16,
  requests: 1_500,
  idleTunnels: 1_000,
  pinnedConnects: 2_000,
};
const QUICK: Scale = {
  spawns: 300,
  spawnRounds: 5,
  startRounds: 10,
  engineMs: 40,
  memoryExecs: 1_000,
  memoryStep: 250,
  files: 5_000,
  fileRounds: 7,
  networkRounds: 5,
  bulkMib: 128,
  tunnels: 500,
  tunnelsAtOnce: 16,
  requests: 1_000,
  idleTunnels: 1_000,
  pinnedConnects: 1_000,
};
const LONG_MEMORY = { memoryExecs: 100_000, memoryStep: 10_000 };

const PARTS = ["spawn", "start", "grants", "files", "engine", "memory", "network"] as const;
type Part = (typeof PARTS)[number];

interface Choice {
  readonly scale: Scale;
  readonly parts: readonly Part[];
  readonly json: boolean;
}

function readChoice(argv: readonly string[]): Choice {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      memory: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
    },
  });
  const unknown = values.only.find((name) => !PARTS.some((part) => part === name));
  if (unknown !== undefined) throw new Error(`no part ${unknown}: take one of ${PARTS.join(", ")}`);
  const scale = { ...(values.quick ? QUICK : FULL), ...(values.memory ? LONG_MEMORY : {}) };
  const parts = PARTS.filter((part) => values.only.length === 0 || values.only.includes(part));
  return { scale, parts, json: values.json };
}

async function measure(bench: Bench, parts: readonly Part[]): Promise<BenchReport> {
  const before = loadavg()[0] ?? 0;
  const measured: Omit<BenchReport, "v" | "faraday" | "kernel" | "cpus" | "load"> = {
    ...(parts.includes("spawn") ? { spawnLoops: benchSpawnLoop(bench) } : {}),
    ...(parts.includes("start") ? { startUp: benchStartUp(bench) } : {}),
    ...(parts.includes("grants") ? { grants: benchGrants(bench) } : {}),
    ...(parts.includes("files") ? { files: benchSealedTree(bench) } : {}),
    ...(parts.includes("engine") ? { engine: benchEngine(bench) } : {}),
    ...(parts.includes("memory") ? { memory: await benchMemory(bench) } : {}),
    ...(parts.includes("network") ? { network: await benchNetwork(bench) } : {}),
  };
  return {
    v: REPORT_VERSION,
    faraday: manifest.version,
    kernel: release(),
    cpus: cpus().length,
    load: { before, after: loadavg()[0] ?? 0 },
    ...measured,
  };
}

async function main(): Promise<number> {
  const { scale, parts, json } = readChoice(process.argv.slice(2));
  if (!existsSync(FARADAY)) {
    process.stderr.write("bench: there is no dist/faraday: run `npm run build` first\n");
    return 1;
  }
  const place = mkdtempSync(join(tmpdir(), "faraday-bench-"));
  const progress = (text: string): void => void process.stderr.write(`bench: ${text}\n`);
  if ((loadavg()[0] ?? 0) > cpus().length / 2) {
    progress("this machine is busy with other work, which makes every ratio worse than it is");
  }
  try {
    const report = await measure({ scale, place, progress }, parts);
    process.stdout.write(json ? `${JSON.stringify(report)}\n` : `\n${renderReport(report)}`);
    return 0;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

if (import.meta.main) process.exitCode = await main();
