/** The supervisor changes the file that it judged, not the one that a path leads to afterwards. */
import { expect, test } from "bun:test";
import { chmodSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Playground } from "../kernel/sealed-run.ts";
import { PYTHON } from "../kernel/test-programs.ts";

const PROBE = join(import.meta.dir, "metadata-race-probe.ts");

test("a path that is rewritten during the call never reaches outside of the grants", () => {
  using place = new Playground();
  const inside = place.file("in/file");
  const outside = place.file("ou/file");
  for (const path of [inside, outside]) chmodSync(path, 0o600);
  const policy = place.policy('allow_globs = ["$T/in"]\nread_globs = ["$T/ou"]');
  const reads = [dirname(process.execPath), import.meta.dir, join(import.meta.dir, "../..")];
  const ran = place.run([
    ...["run", "-p", policy, ...reads.flatMap((path) => ["--read", path]), "--"],
    ...[process.execPath, PROBE, inside, outside],
  ]);
  expect(ran.exit).toBe(0);
  // The control: many of the calls were granted, and did what they say.
  expect(Number(ran.stdout)).toBeGreaterThan(100);
  expect(statSync(inside).mode & 0o777).toBe(0o777);
  expect(statSync(outside).mode & 0o777).toBe(0o600);
}, 60_000);

/** Moves a directory back and forth while a path goes down into it and up again by `..`. */
const MOVES = `import os, signal, sys, time
work, outside = sys.argv[1:]
deep, high = f"{work}/a/b/c", f"{work}/c"
mover = os.fork()
if mover == 0:
    while True:
        os.rename(deep, high)
        os.rename(high, deep)
path = deep + "/x/.." * ((3900 - len(deep)) // 5) + "/../../../t/file"
changed = 0
until = time.monotonic() + 4
while time.monotonic() < until and os.stat(outside).st_mode & 0o777 == 0o600:
    try:
        os.chmod(path, 0o777)
        changed += 1
    except OSError:
        pass
os.kill(mover, signal.SIGKILL)
print(changed)
`;

test("a directory that is moved during the call does not lead outside of the grants", () => {
  using place = new Playground();
  // Three steps up from a/b/c is the work tree; from c they lead out of it.
  place.directory("q/work/a/b/c/x");
  const inside = place.file("q/work/t/file");
  const outside = place.file("t/file");
  for (const path of [inside, outside]) chmodSync(path, 0o600);
  const policy = place.policy('allow_globs = ["$T/q/work"]\nread_globs = ["$T"]');
  const words = [PYTHON, "-c", MOVES, join(place.path, "q/work"), outside];
  const ran = place.run(["run", "-p", policy, "--", ...words]);
  expect([ran.exit, ran.stderr]).toEqual([0, ""]);
  expect(Number(ran.stdout)).toBeGreaterThan(10);
  expect(statSync(inside).mode & 0o777).toBe(0o777);
  expect(statSync(outside).mode & 0o777).toBe(0o600);
}, 60_000);
