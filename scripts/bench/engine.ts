import { compilePolicy } from "../../src/policy/compile-policy.ts";
import { parsePolicy } from "../../src/policy/parse-policy.ts";
import type { ExecRequest } from "../../src/policy/request.ts";
import { type Bench, median } from "./measure.ts";

export interface EngineSpeed {
  readonly rules: number;
  readonly kind: "by name" | "regexes";
  readonly verdictsPerSecond: number;
  /** How this stands to the fewest rules of the same kind. */
  readonly ratio: number;
}

const SIZES = [10, 100, 1000] as const;
const SLICES = 5;
const BATCH = 256;

const SHAPES: Readonly<Record<EngineSpeed["kind"], (n: number) => string>> = {
  "by name": (n) => `exe_basename = "tool-${n}"`,
  regexes: (n) => `argv_regex = '^(git|hg) (push|commit) --(force|amend)-${n}( |$)'`,
};

/** What no rule matches, so that every one that could is tried. */
const REQUEST: ExecRequest = {
  exe: "/usr/bin/git",
  realExe: "/usr/bin/git",
  realKind: "file",
  aliases: [],
  invokedIsPlantable: false,
  realIsPlantable: false,
  parentIsPlantable: false,
  argv: ["git", "-C", "/srv/project", "commit", "--all", "--message", "a change like any other"],
  cwd: "/srv/project",
  uid: 1000,
  parent: null,
};

/** The policy engine alone, in this process: verdicts a second by the number of rules. */
export function benchEngine({ scale, progress }: Bench): readonly EngineSpeed[] {
  return (["by name", "regexes"] as const).flatMap((kind) => {
    const speeds = SIZES.map((rules) => {
      progress(`engine: ${rules} rules, ${kind}`);
      return { rules, kind, verdictsPerSecond: speedOf(policyText(rules, kind), scale.engineMs) };
    });
    const fewest = speeds[0]?.verdictsPerSecond ?? Number.NaN;
    return speeds.map((speed) => ({ ...speed, ratio: speed.verdictsPerSecond / fewest }));
  });
}

function policyText(rules: number, kind: EngineSpeed["kind"]): string {
  const tables = Array.from(
    { length: rules },
    (_, n) => `[[rule]]\nid = "r${n}"\naction = "deny"\n${SHAPES[kind](n)}\n`,
  );
  return ['[meta]\ndefault_action = "allow"\n', ...tables].join("\n");
}

function speedOf(text: string, sliceMs: number): number {
  const parsed = parsePolicy(
    { name: "bench.toml", text },
    { env: () => undefined, home: undefined, readBase: () => ({ ok: false, error: "no bases" }) },
  );
  if (!parsed.ok) throw new Error(parsed.error[0]?.message);
  const policy = compilePolicy(parsed.value.policy);
  if (policy.decide(REQUEST).ruleId !== "default") throw new Error("a rule matched");
  slice(() => policy.decide(REQUEST), sliceMs);
  const speeds = Array.from({ length: SLICES }, () => slice(() => policy.decide(REQUEST), sliceMs));
  return median(speeds);
}

/** Calls a second, over at least so many milliseconds. */
function slice(call: () => unknown, sliceMs: number): number {
  const begin = Bun.nanoseconds();
  const enough = begin + sliceMs * 1e6;
  let calls = 0;
  let now = begin;
  while (now < enough) {
    for (let i = 0; i < BATCH; i++) call();
    calls += BATCH;
    now = Bun.nanoseconds();
  }
  return calls / ((now - begin) / 1e9);
}
