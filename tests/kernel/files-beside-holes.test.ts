/**
 * What comes to be beside a hole after the start, which the kernel's rules cannot grant: made,
 * opened, moved and removed by the supervisor. Beside each thing that works, what the hole denies.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ProbeCall } from "./file-probe.ts";
import { project, TABLE } from "./hole-project.ts";
import type { Playground } from "./sealed-run.ts";

const [O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC] = [1, 2, 0o100, 0o200, 0o1000];
const S_IFREG = 0o100000;
const S_IFCHR = 0o020000;

/** Each call with its answer, in order. */
function expectAnswers(
  place: Playground,
  table: string,
  told: readonly (readonly [ProbeCall, string])[],
) {
  const answers = place.probe(
    table,
    told.map(([call]) => call),
  );
  const shown = told.map(([call], index) => [call, answers[index]]);
  expect(shown).toEqual(told.map(([call, answer]) => [call, answer]));
}

describe("beside a hole", () => {
  test("files are made, opened, written, cut, moved, linked and removed", () => {
    using place = project();
    expectAnswers(place, TABLE, [
      [["creat", "$T/proj/new", 0o640], "ok"],
      [["open", "$T/proj/new", 0], "ok"],
      [["open", "$T/proj/new", O_RDWR | O_TRUNC], "ok"],
      [["open", "$T/proj/new", O_WRONLY | O_CREAT | O_EXCL], "EEXIST"],
      [["openat2", "$T/proj/new", O_RDWR], "ok"],
      [["truncate", "$T/proj/new", 5], "ok"],
      [["chmod", "$T/proj/new", 0o600], "ok"],
      [["rename", "$T/proj/new", "$T/proj/new2"], "ok"],
      [["link", "$T/proj/new2", "$T/proj/new3"], "ok"],
      [["rename", "$T/proj/new3", "$T/proj/src/moved"], "ok"],
      [["symlink", "new2", "$T/proj/link"], "ok"],
      [["open", "$T/proj/link", O_WRONLY], "ok"],
      [["unlink", "$T/proj/link"], "ok"],
      [["mknod", "$T/proj/node", S_IFREG | 0o600, 0], "ok"],
      [["rename", "$T/proj/node", "$T/proj/main.py"], "ok"],
      [["open", "$T/proj/main.py", O_RDWR], "ok"],
      [["creat", "$T/proj/.git/index.lock", 0o644], "ok"],
      [["rename", "$T/proj/.git/index.lock", "$T/proj/.git/index"], "ok"],
    ]);
    expect(statSync(join(place.path, "proj/new2")).mode & 0o777).toBe(0o600);
    expect(statSync(join(place.path, "proj/new2")).size).toBe(5);
    expect(existsSync(join(place.path, "proj/src/moved"))).toBe(true);
  });

  test("a slash at the end means a directory, as it does elsewhere", () => {
    using place = project();
    symlinkSync("src", join(place.path, "proj/way"));
    expectAnswers(place, TABLE, [
      [["creat", "$T/proj/new", 0o640], "ok"],
      [["open", "$T/proj/new/", 0], "ENOTDIR"],
      [["unlink", "$T/proj/new/"], "ENOTDIR"],
      [["unlink", "$T/proj/way/"], "ENOTDIR"],
      [["rename", "$T/proj/new/", "$T/proj/x"], "ENOTDIR"],
      [["rename", "$T/proj/new", "$T/proj/x/"], "ENOTDIR"],
      [["link", "$T/proj/new", "$T/proj/x/"], "ENOENT"],
      [["symlink", "new", "$T/proj/x/"], "ENOENT"],
      [["rename", "$T/proj/.git/hooks/", "$T/proj/x"], "EACCES"],
      [["mkdir", "$T/proj/.git/hooks/", 0o755], "EEXIST"],
      [["rmdir", "$T/proj/.git/hooks/"], "EACCES"],
      [["mkdir", "$T/proj/x/", 0o755], "ok"],
      [["rename", "$T/proj/x/", "$T/proj/y/"], "ok"],
      [["rmdir", "$T/proj/y/"], "ok"],
      [["truncate", "$T/proj/new", -1], "EINVAL"],
    ]);
  });

  test("directories are made, filled and removed", () => {
    using place = project();
    expectAnswers(place, TABLE, [
      [["mkdir", "$T/proj/d", 0o755], "ok"],
      [["mkdir", "$T/proj/d/e", 0o755], "ok"],
      [["creat", "$T/proj/d/e/f", 0o644], "ok"],
      [["open", "$T/proj/d/e/f", O_RDWR], "ok"],
      [["opendir", "$T/proj/d/e"], "ok"],
      [["rename", "$T/proj/d/e", "$T/proj/src/e"], "ok"],
      [["creat", "$T/proj/src/e/g", 0o644], "ok"],
      [["rmdir", "$T/proj/d"], "ok"],
      // What had a rule of its own keeps it, and what takes its name gets none and needs none.
      [["rename", "$T/proj/src", "$T/proj/old"], "ok"],
      [["mkdir", "$T/proj/src", 0o755], "ok"],
      [["creat", "$T/proj/src/y", 0o644], "ok"],
      [["open", "$T/proj/old/x.py", O_RDWR], "ok"],
    ]);
  });

  test("the hole holds: by name, by link, by what leads to it, by what takes its place", () => {
    using place = project();
    expectAnswers(place, TABLE, [
      [["creat", "$T/proj/new", 0o644], "ok"],
      [["open", "$T/proj/.env", 0], "EACCES"],
      [["open", "$T/proj/.env", O_WRONLY | O_CREAT | O_TRUNC], "EACCES"],
      [["open", "$T/proj/d/../.env", 0], "ENOENT"],
      [["open", "$T/proj/src/../.env", 0], "EACCES"],
      [["openat2", "$T/proj/.env", 0], "EACCES"],
      [["truncate", "$T/proj/.env", 0], "EACCES"],
      [["symlink", ".env", "$T/proj/link"], "ok"],
      [["open", "$T/proj/link", 0], "EACCES"],
      [["open", "$T/proj/link", O_WRONLY | O_CREAT], "EACCES"],
      [["link", "$T/proj/.env", "$T/proj/copy"], "EACCES"],
      [["rename", "$T/proj/.env", "$T/proj/copy"], "EACCES"],
      [["rename", "$T/proj/new", "$T/proj/.env"], "EACCES"],
      [["unlink", "$T/proj/.env"], "EACCES"],
      [["rename", "$T/proj/.git", "$T/proj/git"], "EACCES"],
      [["creat", "$T/proj/.git/hooks/post-commit", 0o755], "EACCES"],
      [["open", "$T/proj/.git/hooks/pre-commit", O_WRONLY], "EACCES"],
      [["rename", "$T/proj/src", "$T/proj/.git/hooks/x"], "EACCES"],
      [["rmdir", "$T/proj/.git/hooks"], "EACCES"],
      [["chmod", "$T/proj/.env", 0o644], "EACCES"],
    ]);
    expect(readFileSync(join(place.path, "proj/.env"), "utf8")).toBe("SECRET\n");
  });

  test("one that is not there yet is held, and so is the way to it", () => {
    using place = project();
    const table = 'allow_globs = ["$T/proj"]\ndeny_globs = ["$T/proj/.ci/run/hooks"]';
    expectAnswers(place, table, [
      [["symlink", "src", "$T/proj/.ci"], "EACCES"],
      [["rename", "$T/proj/src", "$T/proj/.ci"], "EACCES"],
      [["creat", "$T/proj/.ci", 0o644], "EACCES"],
      [["mkdir", "$T/proj/.ci", 0o755], "ok"],
      [["creat", "$T/proj/.ci/file", 0o644], "ok"],
      [["mkdir", "$T/proj/.ci/run", 0o755], "ok"],
      [["mkdir", "$T/proj/.ci/run/hooks", 0o755], "EACCES"],
      [["rename", "$T/proj/.ci/file", "$T/proj/.ci/run/hooks"], "EACCES"],
      [["rename", "$T/proj/.ci/run", "$T/proj/other"], "EACCES"],
    ]);
  });

  test("links on the way to a hole stay, wherever they lead", () => {
    using place = project();
    symlinkSync("b", join(place.path, "proj/a"));
    symlinkSync("c", join(place.path, "proj/b"));
    symlinkSync("../outside", join(place.path, "proj/o"));
    symlinkSync("c", join(place.path, "proj/other"));
    place.directory("proj/c/hooks");
    const table = `allow_globs = ["$T/proj"]
deny_globs = ["$T/proj/a/hooks", "$T/proj/o/hooks"]`;
    expectAnswers(place, table, [
      [["unlink", "$T/proj/a"], "EACCES"],
      [["rename", "$T/proj/a", "$T/proj/x"], "EACCES"],
      [["unlink", "$T/proj/b"], "EACCES"],
      [["rename", "$T/proj/src", "$T/proj/b"], "EACCES"],
      [["unlink", "$T/proj/o"], "EACCES"],
      [["creat", "$T/proj/a/hooks/pre", 0o755], "EACCES"],
      [["creat", "$T/proj/a/new", 0o644], "ok"],
      [["open", "$T/proj/c/new", O_RDWR], "ok"],
      [["unlink", "$T/proj/other"], "ok"],
    ]);
  });

  test("nothing is opened, made or moved outside of the grant", () => {
    using place = project();
    symlinkSync("../outside", join(place.path, "proj/away"));
    expectAnswers(place, TABLE, [
      [["open", "$T/outside/f", 0], "EACCES"],
      [["open", "$T/proj/away/f", 0], "EACCES"],
      [["creat", "$T/proj/away/new", 0o644], "EACCES"],
      [["creat", "$T/proj/../outside/new", 0o644], "EACCES"],
      [["link", "$T/outside/f", "$T/proj/f"], "EACCES"],
      [["rename", "$T/proj/main.py", "$T/outside/main.py"], "EACCES"],
      [["symlink", "../outside/f", "$T/proj/out"], "ok"],
      [["open", "$T/proj/out", 0], "EACCES"],
      [["mknod", "$T/proj/device", S_IFCHR | 0o600, 0x0103], "EACCES"],
      [["rename", "$T/proj", "$T/project"], "EACCES"],
      [["creat", "$T/proj/new", 0o644], "ok"],
    ]);
  });

  test("what may only be written is not read", () => {
    using place = project();
    const table = 'write_globs = ["$T/proj"]\ndeny_globs = ["$T/proj/.env"]';
    expectAnswers(place, table, [
      [["creat", "$T/proj/new", 0o644], "ok"],
      [["open", "$T/proj/new", O_WRONLY], "ok"],
      [["open", "$T/proj/new", 0], "EACCES"],
      [["open", "$T/proj/new2", O_RDWR | O_CREAT], "EACCES"],
    ]);
  });

  test("what is granted by two grants is read, whichever of them has the hole", () => {
    using place = project();
    const table = 'read_globs = ["$T"]\nwrite_globs = ["$T/proj"]\ndeny_globs = ["$T/proj/.env"]';
    expectAnswers(place, table, [
      [["open", "$T/proj/new", O_RDWR | O_CREAT], "ok"],
      [["open", "$T/proj/new", 0], "ok"],
      [["open", "$T/proj/.env", 0], "EACCES"],
    ]);
  });

  test("nothing gains rights by a move or a link from one grant to another", () => {
    using place = project();
    place.file("drop/secret");
    place.file("drop/.env");
    place.directory("drop/read");
    const table = `write_globs = ["$T/drop"]
allow_globs = ["$T/drop/read"]
deny_globs = ["$T/drop/.env"]`;
    expectAnswers(place, table, [
      [["open", "$T/drop/secret", 0], "EACCES"],
      [["rename", "$T/drop/secret", "$T/drop/read/secret"], "EXDEV"],
      [["link", "$T/drop/secret", "$T/drop/read/secret"], "EXDEV"],
      [["rename", "$T/drop/secret", "$T/drop/moved"], "ok"],
      [["creat", "$T/drop/read/own", 0o644], "ok"],
      [["rename", "$T/drop/read/own", "$T/drop/own"], "ok"],
    ]);
  });

  test("a move to another grant is one to another disk, so that it is made by copying", () => {
    using place = project();
    place.file("other/f");
    const table = `allow_globs = ["$T/proj", "$T/other"]\ndeny_globs = ["$T/proj/.env"]`;
    expectAnswers(place, table, [
      [["creat", "$T/proj/new", 0o644], "ok"],
      [["rename", "$T/proj/new", "$T/other/new"], "EXDEV"],
      [["rename", "$T/other/f", "$T/proj/f"], "EXDEV"],
      [["rename", "$T/proj/new", "$T/outside/new"], "EACCES"],
      [["rename", "$T/proj/.env", "$T/other/env"], "EACCES"],
    ]);
  });

  test("what may only be read is made by nobody, and a hole for writing is read", () => {
    using place = project();
    const table = 'allow_globs = ["$T/proj"]\ndeny_write_globs = ["$T/proj/main.py"]';
    expectAnswers(place, table, [
      [["open", "$T/proj/main.py", 0], "ok"],
      [["open", "$T/proj/main.py", O_WRONLY], "EACCES"],
      [["unlink", "$T/proj/main.py"], "EACCES"],
      [["creat", "$T/proj/new", 0o644], "ok"],
      [["open", "$T/proj/new", 0], "ok"],
    ]);
    const read = 'read_globs = ["$T/proj"]\ndeny_globs = ["$T/proj/.env"]';
    expectAnswers(place, read, [[["creat", "$T/proj/new2", 0o644], "EACCES"]]);
  });
});
