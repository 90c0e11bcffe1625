import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { Workplace } from "../kernel/faraday-run.ts";
import { compileMarker, denyBut, script } from "../kernel/test-programs.ts";

const place = new Workplace();
const marker = place.at("own/marker");
const own = place.at("own");

/** Shells and a tool by the last part of their names; the agent may write in `own` alone. */
const policy = `${denyBut('exe_basename = ["sh", "dash", "bash", "tool"]')}
[filesystem]
read_globs = ["/"]
allow_globs = ["${own}"]
`;

beforeAll(async () => {
  mkdirSync(own);
  await compileMarker(place, "tool", marker);
  copyFileSync(place.at("tool"), place.at("own/tool"));
  script(place, "own/sh", "#!/proc/self/cwd/tool\n");
  symlinkSync(own, place.at("link"));
  mkdirSync(place.at("bin"));
  symlinkSync(place.at("own/tool"), place.at("bin/tool"));
  symlinkSync(place.at("tool"), place.at("bin/sh"));
});
afterAll(() => place[Symbol.dispose]());

const run = async (command: string) => {
  rmSync(marker, { force: true });
  const words = ["/bin/sh", "-c", command];
  const bare = await place.bare(words, { cwd: own });
  const ranBare = existsSync(marker);
  rmSync(marker, { force: true });
  const kept = await place.faraday(words, { cwd: own, policy });
  return { ranBare, bare, kept, ran: existsSync(marker) };
};

test.each([
  ["its own path", "./tool"],
  ["/proc/self/cwd", "/proc/self/cwd/tool"],
  ["/proc/self/root", `/proc/self/root${own}/tool`],
  ["/proc/thread-self", "/proc/thread-self/cwd/tool"],
  ["the directory of another process", "/proc/$PPID/cwd/tool; /proc/$$/cwd/tool"],
  ["a descriptor of its directory", "exec 5<.; /proc/self/fd/5/tool"],
  ["a descriptor by its other name", "exec 5<.; /dev/fd/5/tool"],
  ["a link to its directory", `${place.at("link")}/tool`],
  ["a link to itself", `${place.at("bin/tool")}`],
  ["an interpreter", "/proc/self/cwd/sh"],
])("a planted program does not pass by its last name through %s", async (_, command) => {
  const { ranBare, kept, ran } = await run(command);
  expect([ranBare, ran]).toEqual([true, false]);
  expect(kept.stderr).toContain("Permission denied");
});

test.each([
  ["its own path", place.at("tool")],
  ["a link that is not the agent's", `${place.at("bin/sh")}`],
  ["/proc/self/cwd", `cd ${place.path} && /proc/self/cwd/tool`],
])("a program that is not planted passes by its last name through %s", async (_, command) => {
  const { kept, ran } = await run(command);
  expect([ran, kept.exit]).toEqual([true, 0]);
});
