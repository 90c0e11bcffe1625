/** The scripts are run by the shells that they are for. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { completionScript } from "../../src/cli/completion-script.ts";
import { COMMANDS, type CommandName, FLAGS, longName } from "../../src/cli/flags.ts";
import { PROFILE_NAMES } from "../../src/cli/profile-names.ts";

const place = mkdtempSync(join(tmpdir(), "faraday-completion-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));
for (const shell of ["bash", "zsh", "fish"] as const) {
  writeFileSync(join(place, `faraday.${shell}`), completionScript(shell));
}
writeFileSync(join(place, "policy.toml"), "");

type Complete = (words: readonly string[]) => readonly string[];

function lines(words: readonly string[], input = ""): readonly string[] {
  const ran = Bun.spawnSync([...words], {
    cwd: place,
    stdin: Buffer.from(input),
    env: { PATH: "/usr/bin:/bin", HOME: place, TERM: "dumb" },
  });
  expect(ran.stderr.toString()).toBe("");
  return ran.stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "");
}

/** Calls the function that bash would call, with the words that it would have made. */
const inBash: Complete = (words) => {
  const list = words.map((word) => `'${word}'`).join(" ");
  const script = `. ./faraday.bash
COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}
_faraday; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return lines(["bash", "--norc", "-c", script]);
};

/** Fish has a command for it; a description follows each word behind a tab. */
const inFish: Complete = (words) =>
  lines(["fish", "--no-config", "-c", `source faraday.fish; complete -C '${words.join(" ")}'`]).map(
    (line) => line.split("\t")[0] ?? "",
  );

const SHELLS: readonly { name: string; complete: Complete; isThere: boolean }[] = [
  { name: "bash", complete: inBash, isThere: true },
  { name: "fish", complete: inFish, isThere: existsSync("/usr/bin/fish") },
];

describe.each(SHELLS.filter(({ isThere }) => isThere))("$name completes", ({ complete }) => {
  test("commands", () => {
    for (const name of Object.keys(COMMANDS)) expect(complete(["faraday", ""])).toContain(name);
    expect(complete(["faraday", "comp"])).toEqual(["completions"]);
  });

  test.each(Object.keys(COMMANDS) as CommandName[])("the flags of %s", (command) => {
    const found = complete(["faraday", command, "--"]);
    for (const flag of COMMANDS[command].flags) expect(found).toContain(`--${longName(flag)}`);
    const others = Object.keys(FLAGS).filter(
      (flag) => !COMMANDS[command].flags.some((own) => longName(own) === flag),
    );
    for (const flag of others) expect(found).not.toContain(`--${flag}`);
  });

  test("values that can be listed", () => {
    expect(complete(["faraday", "run", "--profile", ""]).toSorted()).toEqual(
      [...PROFILE_NAMES].sort(),
    );
    expect(complete(["faraday", "check", "--color", "al"])).toEqual(["always"]);
    expect(complete(["faraday", "completions", ""]).toSorted()).toEqual(["bash", "fish", "zsh"]);
    expect(complete(["faraday", "help", "exit"])).toEqual(["exit-codes"]);
    expect(complete(["faraday", "profiles", "str"])).toEqual(["strict"]);
  });

  test("files where a path is wanted", () => {
    expect(complete(["faraday", "run", "--policy", "pol"])).toEqual(["policy.toml"]);
    expect(complete(["faraday", "check", "pol"])).toEqual(["policy.toml"]);
  });

  test("commands behind --", () => {
    expect(complete(["faraday", "run", "--", "mkdi"])).toContain("mkdir");
  });
});

test("bash takes a value behind an equals sign", () => {
  expect(inBash(["faraday", "run", "--color", "=", "nev"])).toEqual(["never"]);
  expect(inBash(["faraday", "run", "--color", "="])).toContain("always");
});

test.if(existsSync("/usr/bin/zsh"))("zsh completes commands, flags and values", () => {
  // A terminal of its own: zsh completes nowhere else.
  const script = `
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1=; autoload -U compinit; compinit -u -d ./dump; source ./faraday.zsh'
zpty -w z "bindkey '^X' complete-word; faraday() { :; }; print ready"
zpty -r z seen '*ready*ready*'
for words in 'faraday sel' 'faraday check --js' 'faraday run --profile str'; do
  zpty -w -n z "$words"$'\\x18'"@"$'\\n'
  zpty -r z seen '*@*' && print -r -- "$seen"
done
zpty -d z
`;
  const ran = Bun.spawnSync(["timeout", "20", "zsh", "-f", "-c", script], {
    cwd: place,
    env: { PATH: "/usr/bin:/bin", HOME: place, TERM: "dumb" },
  });
  const seen = ran.stdout.toString();
  for (const line of ["selftest @", "check --json @", "run --profile strict @"]) {
    expect(seen).toContain(`${line}\n`);
  }
});
