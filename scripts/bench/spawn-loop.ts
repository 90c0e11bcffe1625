import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { benchPolicy } from "./bench-policy.ts";
import { alternate, type Bench, FARADAY, findPython, type Timing } from "./measure.ts";

const RULES = 50;
const TRUE = "/bin/true";

export interface SpawnLoop {
  readonly loop: string;
  readonly spawns: number;
  readonly timings: readonly Timing[];
}

const bashLoop = (spawns: number): string => `for ((i = 0; i < ${spawns}; i++)); do ${TRUE}; done`;

const pythonLoop = (spawns: number): string => `import os
for _ in range(${spawns}):
    if os.waitpid(os.posix_spawn("${TRUE}", ["true"], os.environ), 0)[1]: raise SystemExit(1)`;

/** Programs that start /bin/true over and over, bare and under a policy with audit log. */
export function benchSpawnLoop({ scale, place, progress }: Bench): readonly SpawnLoop[] {
  const { spawns } = scale;
  const bash = Bun.which("bash");
  const python = findPython();
  const loops = [
    { loop: "bash, fork and exec", program: bash, words: ["-c", bashLoop(spawns)] },
    { loop: "python, posix_spawn", program: python, words: ["-S", "-c", pythonLoop(spawns)] },
  ];
  return loops.flatMap(({ loop, program, words }) => {
    if (program === null) return [];
    const names = [program, TRUE].flatMap((path) => [path, realpathSync(path)]);
    const policy = join(place, "spawn.toml");
    writeFileSync(policy, benchPolicy(RULES, [...new Set(names)]));
    const audit = join(place, "audit.jsonl");
    const faraday = [FARADAY, "run", "--policy", policy, "--audit", audit, "--"];
    const command = [program, ...words];
    const contenders = [
      { name: "bare", command },
      { name: `faraday, ${RULES} rules, audit`, command: [...faraday, ...command] },
    ];
    const told = (text: string): void => progress(`spawn loop, ${loop}: ${text}`);
    return { loop, spawns, timings: alternate(contenders, scale.spawnRounds, told) };
  });
}
