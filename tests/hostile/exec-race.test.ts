import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, linkSync, mkdirSync, rmSync } from "node:fs";
import { type AuditLine, Workplace } from "../kernel/faraday-run.ts";
import {
  allowBut,
  compile,
  compileBareMarker,
  compileMarker,
  exe,
  script,
} from "../kernel/test-programs.ts";
import { EXEC_RACE_SOURCE } from "./exec-race-source.ts";

const ROUNDS = 1000;
/** A caller with a thread that keeps a processor busy takes longer. */
const THREADED_ROUNDS = 300;
const THREADED = ["cwd", "fd", "procfd"];
const BATCHES_MAX = 8;

const place = new Workplace();
const marker = place.at("marker");
const programs = { race: "", allowed: "", denied: "" };
const policy = (): string =>
  allowBut(
    exe(place.at("good/tool-denied"), place.at("bad/tool"), place.at("interpreter-denied")),
    exe(place.at("denied-by-name"), place.at("denied-with-runner"), place.at("bare-denied")),
    `exe_basename = "tool"\nargv_regex = "forbidden"`,
  );

beforeAll(async () => {
  for (const folder of ["good", "bad"]) mkdirSync(place.at(folder));
  programs.race = await compile(place, "race", EXEC_RACE_SOURCE, ["-pthread"]);
  programs.allowed = await compile(place, "good/tool", "int main(void) { return 0; }");
  programs.denied = await compileMarker(place, "good/tool-denied", marker);
  copyFileSync(programs.denied, place.at("bad/tool"));
  copyFileSync(programs.denied, place.at("interpreter-denied"));
  script(place, "script-allowed", "#!/bin/true\n");
  script(place, "script-denied", `#!${place.at("interpreter-denied")}\n`);
  script(place, "denied-with-runner", `#!${place.at("runner")}\n`);
  script(place, "denied-by-name", `#!/bin/sh\necho x >> ${marker}\n`);
});

afterAll(() => place[Symbol.dispose]());

interface Raced {
  readonly end: AuditLine;
  readonly mismatches: readonly AuditLine[];
}

/** Races until a caller got past the first verdict, which on a busy machine may take batches. */
async function race(mode: string, ...words: readonly string[]): Promise<Raced> {
  rmSync(marker, { force: true });
  for (let batch = 1; ; batch++) {
    const rounds = THREADED.includes(mode) ? THREADED_ROUNDS : ROUNDS;
    const command = [programs.race, mode, String(rounds), ...words];
    const raced = await place.faraday(command, { policy: policy() });
    expect(raced.exit).toBe(0);
    expect(existsSync(marker)).toBe(false);
    const mismatches = raced.records.filter(({ event }) => event === "exec-mismatch");
    const isReal = mismatches.some(({ action }) => action === "deny");
    const end = raced.records.at(-1);
    if (end?.event === "end" && (isReal || batch >= BATCHES_MAX)) return { end, mismatches };
  }
}

function expectRacedInVain({ end, mismatches }: Raced): void {
  expect(existsSync(marker)).toBe(false);
  // The race was real: some callers got another program past the first verdict.
  expect(end.counts?.mismatch).toBeGreaterThan(0);
  expect(mismatches.some(({ action }) => action === "deny")).toBe(true);
}

describe("a denied program never runs, however often it is swapped in after the verdict", () => {
  const good = (): string => place.at("good/tool");
  const bad = (): string => place.at("bad/tool");

  test("without Faraday the swapped program runs", async () => {
    rmSync(marker, { force: true });
    const raced = await place.bare([programs.race, "path", "200", good(), bad()]);
    expect(raced.exit).toBe(0);
    expect(existsSync(marker)).toBe(true);
  });

  test("path rewritten in memory that another process shares", async () => {
    expectRacedInVain(await race("path", good(), bad()));
  });

  test("argv rewritten in shared memory", async () => {
    const raced = await race("argv", "permitted", "forbidden", good());
    // Whatever started with the forbidden word was recorded as denied, and so was killed.
    for (const { argv, action } of raced.mismatches) {
      if (argv?.includes("forbidden")) expect(action).toBe("deny");
    }
    expect(raced.mismatches.some(({ action }) => action === "deny")).toBe(true);
  });

  test("symbolic link replaced", async () => {
    expectRacedInVain(await race("symlink", good(), bad(), place.at("link")));
  });

  test("two files exchanged by renameat2", async () => {
    copyFileSync(good(), place.at("exchanged"));
    const raced = await race("exchange", place.at("exchanged"), place.at("good/tool-denied"));
    expectRacedInVain(raced);
  });

  test("working directory changed by another thread", async () => {
    expectRacedInVain(await race("cwd", place.at("good"), place.at("bad"), "./tool"));
  });

  test("descriptor replaced by another thread, execveat with an empty path", async () => {
    expectRacedInVain(await race("fd", good(), bad()));
  });

  test("descriptor replaced by another thread, /proc/self/fd", async () => {
    expectRacedInVain(await race("procfd", good(), bad()));
  });

  test("script whose interpreter is denied swapped in", async () => {
    expectRacedInVain(await race("path", place.at("script-allowed"), place.at("script-denied")));
  });

  test("script that is denied by its own name swapped in", async () => {
    expectRacedInVain(await race("path", good(), place.at("denied-by-name")));
  });

  test("such a script whose interpreter is the very program that was allowed", async () => {
    const source = `#include <fcntl.h>\nint main(int argc, char **argv) {
  return argc > 1 && open("${marker}", O_CREAT | O_WRONLY, 0644) < 0; }`;
    const runner = await compile(place, "runner", source);
    expectRacedInVain(await race("path", runner, place.at("denied-with-runner")));
  });

  test("a program exchanged with its denied ELF interpreter", async () => {
    await compileBareMarker(place, "bare-denied", marker);
    const interpreter = place.at("hard");
    linkSync(place.at("bare-denied"), interpreter);
    const flags = [`-Wl,--dynamic-linker=${interpreter}`];
    const program = await compile(place, "asking", "int main(void) { return 0; }", flags);
    await place.bare([program]);
    expect(existsSync(marker)).toBe(true);
    expectRacedInVain(await race("exchange", program, interpreter));
  });

  test("interpreter of a script replaced through a link", async () => {
    const link = place.at("interpreter-link");
    script(place, "linked-script", `#!${link}\n`);
    const words = ["/bin/true", place.at("interpreter-denied"), link, place.at("linked-script")];
    expectRacedInVain(await race("symlink", ...words));
  });
});
