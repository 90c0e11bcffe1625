import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { alternate, type Bench, FARADAY, type Timing } from "./measure.ts";

export interface SealedWork {
  readonly work: string;
  readonly timings: readonly Timing[];
}

const FILES_A_DIRECTORY = 100;
/** The user's own configuration is not among the grants. */
const NO_CONFIG = "GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null";
const LINE = "the quick brown fox jumps over the lazy dog\n";

/** Programs that touch every file of a large tree; those that are not installed are left out. */
const WORKS: readonly { readonly program: string; readonly line: string }[] = [
  { program: "rg", line: "rg --quiet --no-ignore absent ." },
  { program: "grep", line: "grep -r -q absent ." },
  { program: "git", line: `${NO_CONFIG} git --no-optional-locks status --short` },
  // Its output goes through a pipe: tar does not even read files for /dev/null.
  { program: "tar", line: "tar -cf - . | cat" },
];

/**
 * Work on many files, bare and sealed. The script takes the time of the work alone: what a run
 * costs to begin with is told by the start-up's own part.
 */
export function benchSealedTree({ scale, place, progress }: Bench): readonly SealedWork[] {
  const tree = join(place, "tree");
  makeTree(tree, scale.files, progress);
  const policy = join(place, "sealed.toml");
  writeFileSync(policy, policyText(tree));
  const audit = join(place, "sealed.jsonl");
  const faraday = [FARADAY, "run", "--policy", policy, "--audit", audit, "--"];
  return WORKS.filter(({ program }) => Bun.which(program) !== null).map(({ program, line }) => {
    const command = ["bash", "-c", script(tree, line)];
    const contenders = [
      { name: "bare", command, timesItself: true },
      { name: "sealed", command: [...faraday, ...command], timesItself: true },
    ];
    const told = (text: string): void => progress(`files, ${program}: ${text}`);
    return { work: line, timings: alternate(contenders, scale.fileRounds, told) };
  });
}

const policyText = (tree: string): string => `[meta]
version = 1
default_action = "allow"

[filesystem]
allow_globs = ["${tree}/**", "/dev/null"]
`;

/** Prints the seconds that the line took. Not to find anything is no failure. */
const script = (tree: string, line: string): string => `cd ${tree} || exit 1
TIMEFORMAT='%R %U %S'
{ time { ${line}; } > /dev/null 2>&3 || [ $? -eq 1 ] || exit 1; } 3>&2 2>&1`;

function makeTree(tree: string, files: number, progress: (text: string) => void): void {
  progress(`files: a tree of ${files}`);
  for (let n = 0; n < files; n += FILES_A_DIRECTORY) {
    const directory = join(tree, `d${Math.floor(n / 10_000)}`, `e${n}`);
    mkdirSync(directory, { recursive: true });
    for (let i = n; i < Math.min(n + FILES_A_DIRECTORY, files); i++) {
      writeFileSync(join(directory, `f${i}.txt`), LINE.repeat(1 + (i % 20)));
    }
  }
  if (Bun.which("git") === null) return;
  for (const words of [
    ["init", "-q"],
    ["add", "."],
  ]) {
    const done = Bun.spawnSync(["git", ...words], { cwd: tree, stdout: "ignore" });
    if (!done.success) throw new Error(`git ${words[0]}: ${done.stderr.toString()}`);
  }
}
