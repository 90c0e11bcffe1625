/** --explain-denials tells what the kernel refused, and changes nothing. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Playground } from "./sealed-run.ts";

interface FileRecord {
  readonly event: string;
  readonly call: string;
  readonly path: string;
  readonly rights: readonly string[];
  readonly grant: string | null;
  readonly hole: string | null;
}

function explain(place: Playground, table: string, script: string) {
  const flags = ["--explain-denials", "--audit", "audit.jsonl"];
  const ran = place.run(["run", "-p", place.policy(table), ...flags, "--", "sh", "-c", script]);
  const records = readFileSync(join(place.path, "audit.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as FileRecord)
    .filter(({ event, path }) => event === "file" && path.startsWith(place.path));
  return { ran, records };
}

const TABLE = 'allow_globs = ["$T/in"]\nread_globs = ["$T/ro"]';

describe("each denial is recorded with what would allow it", () => {
  test.each([
    { script: "cat out/file", right: "read_file", grant: 'read_globs = ["$T/out/file"]' },
    { script: "echo x >> ro/file", right: "write_file", grant: 'write_globs = ["$T/ro/file"]' },
    { script: "echo x > out/new", right: "make_reg", grant: 'write_globs = ["$T/out/**"]' },
    { script: "ls out", right: "read_dir", grant: 'read_globs = ["$T/out"]' },
    { script: "rm -f ro/file", right: "remove_file", grant: 'write_globs = ["$T/ro/**"]' },
    { script: "mkdir out/d", right: "make_dir", grant: 'write_globs = ["$T/out/**"]' },
    { script: "ln -s x out/s", right: "make_sym", grant: 'write_globs = ["$T/out/**"]' },
  ])("$script: $right", ({ script, right, grant }) => {
    using place = new Playground();
    for (const tree of ["in", "ro", "out"]) place.file(`${tree}/file`);
    const { ran, records } = explain(place, TABLE, `${script} 2>/dev/null`);
    const line = grant.replaceAll("$T", place.path);
    expect(records.find((each) => each.grant === line)?.rights).toContain(right);
    expect(ran.stderr).toContain(`    ${line}\n`);
    // What it says is true: with that line the same command works.
    const [key = "", list = ""] = line.split(" = ");
    const more = TABLE.includes(`${key} =`)
      ? TABLE.replace(new RegExp(`${key} = \\[`), `${key} = [${list.slice(1, -1)}, `)
      : `${TABLE}\n${line}`;
    const again = place.run(["run", "-p", place.policy(more), "--", "sh", "-c", script]);
    expect(again.exit).toBe(0);
  });

  test("a hole is named, since no grant would help", () => {
    using place = new Playground();
    place.file("ro/.env");
    const table = `${TABLE}\ndeny_globs = ["$T/ro/.env"]`;
    place.directory("in");
    const { records } = explain(place, table, "cat ro/.env 2>/dev/null");
    expect(records[0]).toMatchObject({ grant: null, hole: join(place.path, "ro/.env") });
  });
});

test("what is allowed, and what is not there, is not told", () => {
  using place = new Playground();
  for (const tree of ["in", "ro"]) place.file(`${tree}/file`);
  const script = "cat in/file ro/file && echo x > in/new && mv in/new in/n2 && ! cat ro/none";
  const { ran, records } = explain(place, TABLE, `${script} 2>/dev/null`);
  expect(ran.exit).toBe(0);
  expect(records).toEqual([]);
});

test("an empty log of denials without the flag says nothing either", () => {
  using place = new Playground();
  place.file("out/file");
  place.directory("in");
  place.directory("ro");
  const ran = place.run(["run", "-p", place.policy(TABLE), "--", "sh", "-c", "cat out/file"]);
  expect(ran.exit).toBe(1);
  expect(ran.stderr).not.toContain("faraday:");
});
