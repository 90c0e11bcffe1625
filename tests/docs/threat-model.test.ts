import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../../scripts/source-files.ts";
import { readDocument } from "./markdown-blocks.ts";

const text = readDocument("docs/threat-model.md");

test("every test that docs/threat-model.md names exists", () => {
  const named = [...new Set(text.match(/\btests\/[\w/-]+\.test\.ts/g))];
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(join(REPOSITORY, path)))).toEqual([]);
});

test("every promise names a test", () => {
  const rows = text.split("\n").filter((line) => /^\| [A-Z]/.test(line));
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.filter((row) => !/\.test\.ts/.test(row))).toEqual([]);
});
