import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The binary that is measured; a copy may be named so that a rebuild does not disturb a run. */
export const FARADAY = resolve(
  process.env.FARADAY_BINARY ?? join(import.meta.dir, "../../dist/faraday"),
);

/** How much of everything a run does. */
export interface Scale {
  readonly spawns: number;
  readonly spawnRounds: number;
  readonly startRounds: number;
  readonly engineMs: number;
  readonly memoryExecs: number;
  /** Execs between two looks at the memory. */
  readonly memoryStep: number;
  readonly files: number;
  readonly fileRounds: number;
  readonly networkRounds: number;
  /** The size of a large answer. */
  readonly bulkMib: number;
  readonly tunnels: number;
  readonly tunnelsAtOnce: number;
  /** Small requests, one after the other. */
  readonly requests: number;
  readonly idleTunnels: number;
  readonly pinnedConnects: number;
}

/** What every part of the benchmark gets. */
export interface Bench {
  readonly scale: Scale;
  /** A directory of its own, removed at the end. */
  readonly place: string;
  readonly progress: (text: string) => void;
}

export interface Contender {
  readonly name: string;
  readonly command: readonly string[];
  /** The command prints, as its only output, the seconds that count: real, user and system. */
  readonly timesItself?: boolean;
}

/** One contender's times, and how they stand to the first contender's of the same round. */
export interface Timing {
  readonly name: string;
  readonly medianMs: number;
  readonly leastMs: number;
  readonly ratio: number;
  readonly ratioLow: number;
  readonly ratioHigh: number;
  /** The ratio of processor time, which other work on the machine hardly changes. */
  readonly cpuRatio: number;
  readonly rounds: number;
}

const RUN_TIMEOUT_MS = 120_000;

/** A system's python3: a version manager's is a script that starts others. */
export function findPython(): string | null {
  return Bun.which("python3", { PATH: "/usr/bin:/bin:/usr/local/bin" });
}

interface Spent {
  readonly ms: number;
  readonly cpuMs: number;
}

/** Runs a command to its end and returns what it took; one that fails ends the benchmark. */
function timeOnce({ name, command, timesItself }: Contender): Spent {
  const begin = Bun.nanoseconds();
  const done = Bun.spawnSync([...command], {
    cwd: tmpdir(),
    stdin: "ignore",
    stdout: timesItself ? "pipe" : "ignore",
    stderr: "pipe",
    timeout: RUN_TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  const ms = (Bun.nanoseconds() - begin) / 1e6;
  if (done.exitCode !== 0) {
    const end = done.exitCode ?? done.signalCode ?? "?";
    throw new Error(`${name} ended with ${end}: ${done.stderr.toString().slice(0, 500)}`);
  }
  if (!timesItself) return { ms, cpuMs: Number(done.resourceUsage.cpuTime.total) / 1000 };
  const [real, user, system] = (done.stdout?.toString() ?? "").split(" ").map(Number);
  const cpuMs = ((user ?? Number.NaN) + (system ?? Number.NaN)) * 1000;
  return { ms: (real ?? Number.NaN) * 1000, cpuMs };
}

/**
 * Times the contenders in turn, so that a busy minute of the machine hits all of them, forwards and
 * backwards, so that none always follows the same other. Ratios are taken within a round.
 */
export function alternate(
  contenders: readonly Contender[],
  rounds: number,
  progress: (text: string) => void,
): readonly Timing[] {
  for (const each of contenders) timeOnce(each);
  const times = new Map(contenders.map(({ name }) => [name, [] as Spent[]]));
  for (let round = 0; round < rounds; round++) {
    progress(`round ${round + 1} of ${rounds}`);
    const order = round % 2 === 0 ? contenders : contenders.toReversed();
    for (const each of order) times.get(each.name)?.push(timeOnce(each));
  }
  const base = times.get(contenders[0]?.name ?? "") ?? [];
  return contenders.map(({ name }) => {
    const own = times.get(name) ?? [];
    const ratios = own.map(({ ms }, round) => ms / (base[round]?.ms ?? Number.NaN));
    const cpuRatios = own.map(({ cpuMs }, round) => cpuMs / (base[round]?.cpuMs ?? Number.NaN));
    return {
      name,
      medianMs: median(own.map(({ ms }) => ms)),
      leastMs: Math.min(...own.map(({ ms }) => ms)),
      cpuRatio: median(cpuRatios),
      ratio: median(ratios),
      ratioLow: Math.min(...ratios),
      ratioHigh: Math.max(...ratios),
      rounds,
    };
  });
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
