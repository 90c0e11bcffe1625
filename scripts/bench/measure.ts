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
}

/** One contender's times, and how they stand to the first contender's of the same round. */
export interface Timing {
  readonly name: string;
  readonly medianMs: number;
  readonly ratio: number;
  readonly ratioLow: number;
  readonly ratioHigh: number;
  readonly rounds: number;
}

const RUN_TIMEOUT_MS = 120_000;

/** A system's python3: a version manager's is a script that starts others. */
export function findPython(): string | null {
  return Bun.which("python3", { PATH: "/usr/bin:/bin:/usr/local/bin" });
}

/** Runs a command to its end and returns its milliseconds; one that fails ends the benchmark. */
function timeOnce({ name, command }: Contender): number {
  const begin = Bun.nanoseconds();
  const done = Bun.spawnSync([...command], {
    cwd: tmpdir(),
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    timeout: RUN_TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  const ms = (Bun.nanoseconds() - begin) / 1e6;
  if (done.exitCode !== 0) {
    const end = done.exitCode ?? done.signalCode ?? "?";
    throw new Error(`${name} ended with ${end}: ${done.stderr.toString().slice(0, 500)}`);
  }
  return ms;
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
  const times = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    progress(`round ${round + 1} of ${rounds}`);
    const order = round % 2 === 0 ? contenders : contenders.toReversed();
    for (const each of order) times.get(each.name)?.push(timeOnce(each));
  }
  const base = times.get(contenders[0]?.name ?? "") ?? [];
  return contenders.map(({ name }) => {
    const own = times.get(name) ?? [];
    const ratios = own.map((ms, round) => ms / (base[round] ?? Number.NaN));
    return {
      name,
      medianMs: median(own),
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
