/** The supervisor changes the file that it judged, not the one that a path leads to afterwards. */
import { expect, test } from "bun:test";
import { chmodSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Playground } from "../kernel/sealed-run.ts";

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
