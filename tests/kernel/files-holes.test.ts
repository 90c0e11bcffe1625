/** Holes in grants, held by the kernel. */
import { describe, expect, test } from "bun:test";
import { linkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ProbeCall } from "./file-probe.ts";
import { Playground } from "./sealed-run.ts";

const O_RDWR = 2;
const NO = "EACCES";

function project(): Playground {
  const place = new Playground();
  place.file("proj/.env");
  place.file("proj/main.py");
  place.file("proj/src/x.py");
  place.file("proj/.secrets/key");
  place.file("proj/keys/a.key");
  return place;
}

describe("a hole in a writable tree", () => {
  const table = 'allow_globs = ["$T/proj"]\ndeny_globs = ["$T/proj/.env", "$T/proj/.secrets"]';

  test("is neither read, written, removed, renamed, replaced nor linked to", () => {
    using place = project();
    const calls: ProbeCall[] = [
      ["open", "$T/proj/main.py", O_RDWR],
      ["open", "$T/proj/.env", 0],
      ["open", "$T/proj/.env", 1],
      ["truncate", "$T/proj/.env", 0],
      ["unlink", "$T/proj/.env"],
      ["rename", "$T/proj/.env", "$T/proj/src/env"],
      ["rename", "$T/proj/src/x.py", "$T/proj/.env"],
      ["link", "$T/proj/.env", "$T/proj/src/env"],
      ["open", "$T/proj/.secrets/key", 0],
      ["creat", "$T/proj/.secrets/new", 0o600],
      ["rename", "$T/proj/.secrets", "$T/proj/src/secrets"],
    ];
    const [control, ...rest] = place.probe(table, calls);
    expect(control).toBe("ok");
    for (const answer of rest) expect([NO, "EXDEV"]).toContain(answer);
  });

  test("with a wildcard costs new entries beside it, and leaves the rest as it was", () => {
    using place = project();
    const table = 'allow_globs = ["$T/proj"]\ndeny_globs = ["$T/proj/.e*"]';
    const calls: ProbeCall[] = [
      ["creat", "$T/proj/new", 0o644],
      ["rename", "$T/proj/main.py", "$T/proj/main2.py"],
      ["open", "$T/proj/main.py", O_RDWR],
      ["creat", "$T/proj/src/new", 0o644],
      ["rename", "$T/proj/src/new", "$T/proj/src/new2"],
      ["opendir", "$T/proj"],
    ];
    expect(place.probe(table, calls)).toEqual([NO, NO, "ok", "ok", "ok", "ok"]);
    using same = project();
    const free = same.probe('allow_globs = ["$T/proj"]', calls.slice(0, 2));
    expect(free).toEqual(["ok", "ok"]);
  });

  test("is held before it exists", () => {
    using place = project();
    const missing = 'allow_globs = ["$T/proj"]\ndeny_globs = ["$T/proj/.mcp.json"]';
    expect(place.probe(missing, [["creat", "$T/proj/.mcp.json", 0o644]])).toEqual([NO]);
    const free = place.probe('allow_globs = ["$T/proj"]', [["creat", "$T/proj/.mcp.json", 0o644]]);
    expect(free).toEqual(["ok"]);
  });
});

describe("a hole in a tree that is read", () => {
  test("hides what is in it and nothing beside it, also through links", () => {
    using place = project();
    symlinkSync(".secrets", join(place.path, "proj/alias"));
    const table = 'read_globs = ["$T"]\ndeny_globs = ["$T/proj/alias"]';
    const calls: ProbeCall[] = [
      ["open", "$T/proj/alias/key", 0],
      ["open", "$T/proj/.secrets/key", 0],
      ["open", "$T/proj/src/x.py", 0],
      ["open", "$T/proj/.env", 0],
      ["opendir", "$T/proj"],
    ];
    expect(place.probe(table, calls)).toEqual([NO, NO, "ok", "ok", "ok"]);
  });

  test("may have wildcards", () => {
    using place = project();
    const table = 'read_globs = ["$T"]\ndeny_globs = ["$T/**/*.key", "$T/proj/.e*"]';
    const calls: ProbeCall[] = [
      ["open", "$T/proj/keys/a.key", 0],
      ["open", "$T/proj/.env", 0],
      ["open", "$T/proj/main.py", 0],
    ];
    expect(place.probe(table, calls)).toEqual([NO, NO, "ok"]);
  });
});

describe("what cannot be held is refused at the start", () => {
  test.each([
    { what: "`**` where files can be made", glob: "$T/proj/**/.env", said: "could be created" },
    { what: "a file with a second name", glob: "$T/proj/.env", said: "is a hard link" },
  ])("$what", ({ glob, said }) => {
    using place = project();
    linkSync(join(place.path, "proj/.env"), join(place.path, "proj/src/other"));
    const policy = place.policy(`allow_globs = ["$T/proj"]\ndeny_globs = ["${glob}"]`);
    const ran = place.run(["run", "-p", policy, "--", "true"]);
    expect(ran.exit).toBe(126);
    expect(ran.stderr).toContain("error[hole-not-held]");
    expect(ran.stderr).toContain(said);
    const control = place.policy('allow_globs = ["$T/proj"]');
    expect(place.run(["run", "-p", control, "--", "true"]).exit).toBe(0);
  });
});
