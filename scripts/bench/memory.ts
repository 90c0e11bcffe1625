import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { benchPolicy } from "./bench-policy.ts";
import { type Bench, FARADAY } from "./measure.ts";

export interface MemorySample {
  readonly execs: number;
  readonly rssKib: number;
  readonly anonymousKib: number;
}

export interface Memory {
  readonly samples: readonly MemorySample[];
  /** The last sample against the first, by anonymous memory. */
  readonly ratio: number;
}

const RULES = 50;
const RUN_TIMEOUT_MS = 900_000;

/** The supervisor's memory while one command starts very many programs. */
export async function benchMemory({ scale, place, progress }: Bench): Promise<Memory> {
  const { memoryExecs, memoryStep } = scale;
  const policy = join(place, "memory.toml");
  writeFileSync(
    policy,
    benchPolicy(RULES, ["/bin/bash", "/usr/bin/bash", "/bin/true", "/usr/bin/true"]),
  );
  const loop = `for ((i = 1; i <= ${memoryExecs}; i++)); do
  /bin/true
  ((i % ${memoryStep})) || echo $i
done`;
  const audit = join(place, "memory.jsonl");
  const child = Bun.spawn(
    [FARADAY, "run", "--policy", policy, "--audit", audit, "--", "/bin/bash", "-c", loop],
    { stdin: "ignore", stdout: "pipe", stderr: "inherit" },
  );
  const timer = setTimeout(() => child.kill("SIGKILL"), RUN_TIMEOUT_MS);
  const samples: MemorySample[] = [];
  for await (const line of lines(child.stdout)) {
    const execs = Number(line);
    samples.push({ execs, ...readMemory(child.pid) });
    progress(`memory: ${execs} of ${memoryExecs} execs`);
  }
  await child.exited;
  clearTimeout(timer);
  if (child.exitCode !== 0) throw new Error(`the loop ended with ${child.exitCode}`);
  const [first, last] = [samples[0], samples.at(-1)];
  const ratio = (last?.anonymousKib ?? Number.NaN) / (first?.anonymousKib ?? Number.NaN);
  return { samples, ratio };
}

function readMemory(pid: number): { rssKib: number; anonymousKib: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? Number.NaN);
  return { rssKib: field("VmRSS"), anonymousKib: field("RssAnon") };
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pending = "";
  for await (const chunk of stream) {
    pending += decoder.decode(chunk, { stream: true });
    const parts = pending.split("\n");
    pending = parts.pop() ?? "";
    yield* parts;
  }
}
