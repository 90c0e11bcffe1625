/** What was allowed once is not looked up again as long as nothing has changed: what if it has? */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { recordsOf, Workplace } from "../kernel/faraday-run.ts";
import { allowBut, compile, compileMarker, PYTHON, script } from "../kernel/test-programs.ts";

const place = new Workplace();
const marker = place.at("marker");
const policy = allowBut(`exe_glob = "${place.at("closed")}/**"`, 'exe_basename = "interpreter"');

beforeAll(async () => {
  await compileMarker(place, "bad", marker);
  await compile(place, "good", "int main(void) { return 0; }");
  copyFileSync(place.at("bad"), place.at("interpreter"));
  script(place, "script", `#!${place.at("interpreter")}\n`);
});
afterAll(() => place[Symbol.dispose]());

/** `closed/tool` leaves the marker when it runs, `open/tool` does nothing. */
function layOut(): void {
  for (const name of ["open", "closed", "way"]) {
    rmSync(place.at(name), { recursive: true, force: true });
  }
  rmSync(marker, { force: true });
  for (const [name, program] of Object.entries({ open: "good", closed: "bad" })) {
    mkdirSync(place.at(name));
    copyFileSync(place.at(program), place.at(`${name}/tool`));
    chmodSync(place.at(`${name}/tool`), 0o755);
  }
}

const REPEAT = "for i in 1 2 3 4 5; do way/tool || exit 9; done";

describe("what was allowed before is denied once it is something else", () => {
  test.each([
    {
      change: "a link on the way leads elsewhere",
      command: `ln -s open way; ${REPEAT}; ln -sfn closed way; way/tool`,
    },
    {
      change: "its directory was exchanged",
      command: `cp -r open way; ${REPEAT}; rm -r way; ln -s closed way; way/tool`,
    },
    {
      change: "the working directory is another",
      command:
        "cd open; for i in 1 2 3 4 5; do ./tool || exit 9; done; cd ../closed; ./tool; exit $?",
    },
    {
      change: "the file is a script now",
      command: `cp -r open way; ${REPEAT}; cp script way/tool; way/tool`,
    },
  ])("$change", async ({ command }) => {
    const words = ["bash", "-c", command];
    layOut();
    await place.bare(words, { cwd: place.path });
    expect(existsSync(marker)).toBe(true);
    layOut();
    const kept = await place.faraday(words, { policy, cwd: place.path });
    expect(existsSync(marker)).toBe(false);
    // Told as any denial is: it did not need to be killed.
    expect(kept.exit).toBe(126);
    expect(kept.stderr).toContain("Permission denied");
    expect(recordsOf(kept.records, "tool").map(({ action }) => action)).toEqual([
      ...Array(5).fill("allow"),
      "deny",
    ]);
  });

  test("its directory was moved, and nothing else has changed", async () => {
    const moved = `cp bad open/tool; ln -s open way; ${REPEAT}
rm -rf marker closed; mv open closed; ln -sfn closed way; way/tool`;
    const words = ["bash", "-c", moved];
    layOut();
    await place.bare(words, { cwd: place.path });
    expect(existsSync(marker)).toBe(true);
    layOut();
    const kept = await place.faraday(words, { policy, cwd: place.path });
    expect(existsSync(marker)).toBe(false);
    const last = kept.records.findLast(({ event }) => event === "exec-mismatch");
    expect(last).toMatchObject({ action: "deny", rule_id: "r1" });
  });
});

test("a program that is replaced while it starts does start", async () => {
  layOut();
  const python = `import os, shutil, threading
ready = threading.Barrier(2)
def replace():
    for _ in range(400):
        shutil.copy2("good", "open/new")
        ready.wait()
        os.rename("open/new", "open/tool")
        ready.wait()
threading.Thread(target=replace, daemon=True).start()
codes = {}
for _ in range(400):
    ready.wait()
    code = os.waitpid(os.posix_spawn("${place.at("open/tool")}", ["tool"], {}), 0)[1]
    codes[code] = codes.get(code, 0) + 1
    ready.wait()
print(codes)`;
  const words = [PYTHON, "-c", python];
  const bare = await place.bare(words, { cwd: place.path });
  const kept = await place.faraday(words, { policy, cwd: place.path });
  expect([bare.stdout, kept.stdout]).toEqual(["{0: 400}\n", "{0: 400}\n"]);
});
