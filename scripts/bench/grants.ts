import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { alternate, type Bench, FARADAY, type Timing } from "./measure.ts";

export interface GrantCost {
  readonly grants: number;
  readonly timing: Timing;
  /** What it takes more than the fewest grants. */
  readonly addedMs: number;
}

const SIZES = [1, 25, 50, 100, 200] as const;
const TRUE = "/bin/true";

/** Start-up of a sealed run by the number of its grants. */
export function benchGrants({ scale, place, progress }: Bench): readonly GrantCost[] {
  const contenders = SIZES.map((grants) => {
    const policy = join(place, `grants-${grants}.toml`);
    writeFileSync(policy, policyText(makeDirectories(join(place, "granted"), grants)));
    const command = [FARADAY, "run", "--policy", policy, "--", TRUE];
    return { name: `${grants} grants`, command };
  });
  const timings = alternate(contenders, scale.startRounds, (text) => progress(`grants: ${text}`));
  const fewestMs = timings[0]?.medianMs ?? Number.NaN;
  return timings.map((timing, at) => ({
    grants: SIZES[at] ?? Number.NaN,
    timing,
    addedMs: timing.medianMs - fewestMs,
  }));
}

function makeDirectories(parent: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => {
    const directory = join(parent, `d${n}`);
    mkdirSync(directory, { recursive: true });
    return directory;
  });
}

function policyText(directories: readonly string[]): string {
  const globs = directories.map((directory) => JSON.stringify(`${directory}/**`)).join(", ");
  return `[meta]\nversion = 1\ndefault_action = "allow"\n\n[filesystem]\nread_globs = [${globs}]\n`;
}
