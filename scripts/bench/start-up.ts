import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { alternate, type Bench, type Contender, FARADAY, type Timing } from "./measure.ts";

const TRUE = "/bin/true";

/** The wrappers that do a comparable thing; those that are not installed are left out. */
const PEERS: readonly { readonly name: string; readonly words: readonly string[] }[] = [
  { name: "bwrap", words: ["--bind", "/", "/"] },
  { name: "firejail", words: ["--quiet", "--noprofile"] },
];

/** One short command: bare, under Faraday, and under other wrappers. */
export function benchStartUp({ scale, place, progress }: Bench): readonly Timing[] {
  const policy = join(place, "minimal.toml");
  writeFileSync(policy, '[meta]\nversion = 1\ndefault_action = "allow"\n');
  const peers = PEERS.flatMap(({ name, words }): Contender[] => {
    const program = Bun.which(name);
    return program === null ? [] : [{ name, command: [program, ...words, TRUE] }];
  });
  const contenders = [
    { name: "bare", command: [TRUE] },
    { name: "faraday, default policy", command: [FARADAY, "run", "--", TRUE] },
    { name: "faraday, no rules", command: [FARADAY, "run", "--policy", policy, "--", TRUE] },
    ...peers.filter(works),
  ];
  return alternate(contenders, scale.startRounds, (text) => progress(`start-up: ${text}`));
}

/** A wrapper may be installed and yet not run here, for want of namespaces. */
function works({ command }: Contender): boolean {
  return Bun.spawnSync([...command], { timeout: 10_000, killSignal: "SIGKILL" }).exitCode === 0;
}
