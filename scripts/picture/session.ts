import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../source-files.ts";

/** The home directory that the picture shows; the real one has another name on each machine. */
const SHOWN_HOME = "/home/ann";

/** What plays the agent; xtrace shows each command before it is run. */
const AGENT = `#!/bin/bash
PS4=$'\\e[35magent>\\e[0m '
set -x
sed -i 's/a - b/a + b/' sum.js
git commit -qam 'sum adds'
git log --format=%s
cat ~/.ssh/id_rsa
cp evil.sh ~/.bashrc
su -c id
`;

const COMMANDS = [
  "faraday run --allow . --audit ../verdicts.jsonl -- bash agent.sh",
  `jq -cM 'select(.action == "deny") | {rule_id, argv}' ../verdicts.jsonl`,
];

export interface Exchange {
  readonly command: string;
  /** Lines as a terminal gets them, with colours. */
  readonly output: readonly string[];
}

/** Runs the commands of the picture on a terminal, in a home directory made for them. */
export function recordSession(faraday: string, place: string): readonly Exchange[] {
  const home = makeHome(place);
  const bin = join(place, "bin");
  mkdirSync(bin);
  // A link would do, but the name that messages show must not depend on where Faraday is.
  writeFileSync(join(bin, "faraday"), `#!/bin/sh\nexec '${faraday}' "$@"\n`, { mode: 0o755 });
  const env = {
    ...{ PATH: `${bin}:/usr/bin:/bin`, HOME: home, LANG: "C.UTF-8" },
    // What this machine's git is set up with is not granted, and is no matter of the picture.
    ...{ TERM: "xterm-256color", SHELL: "/bin/sh", GIT_CONFIG_NOSYSTEM: "1" },
    GIT_PAGER: "cat",
  };
  const exchanges = COMMANDS.map((command): Exchange => {
    const words = ["script", "--quiet", "--return", "--command", command, "/dev/null"];
    const cwd = join(home, "project");
    const { stdout } = Bun.spawnSync(words, { cwd, env, stdin: "ignore", stderr: "inherit" });
    const text = stdout.toString().replaceAll("\r\n", "\n").replaceAll(home, SHOWN_HOME);
    return { command, output: text.replace(/\n$/, "").split("\n") };
  });
  rmSync(place, { recursive: true });
  return exchanges;
}

function makeHome(place: string): string {
  rmSync(place, { recursive: true, force: true });
  const home = join(place, "home");
  const project = join(home, "project");
  for (const folder of [project, join(home, ".ssh")]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, ".ssh/id_rsa"), "no real key\n");
  writeFileSync(join(home, ".bashrc"), "# the user's own\n");
  writeFileSync(join(project, "sum.js"), "export const sum = (a, b) => a - b;\n");
  writeFileSync(join(project, "evil.sh"), "echo no harm done\n");
  writeFileSync(join(project, "agent.sh"), AGENT);
  for (const words of [
    ["init", "--quiet", "--initial-branch=main"],
    ["config", "user.name", "Ann"],
    ["config", "user.email", "ann@example.invalid"],
    ["add", "."],
    ["commit", "--quiet", "--message=first"],
  ]) {
    const env = { PATH: "/usr/bin:/bin", HOME: home };
    const done = Bun.spawnSync(["git", ...words], { cwd: project, env });
    if (done.exitCode !== 0) throw new Error(`git ${words[0]}: ${done.stderr.toString()}`);
  }
  return home;
}

/** Inside the repository's own build directory, since the agent may not write where it is. */
export const PLACE = join(REPOSITORY, "build/picture");
