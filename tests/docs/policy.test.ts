import { afterAll, describe, expect, test } from "bun:test";
import { loadPolicy } from "../../src/launch/load-policy.ts";
import { MATCH_KEYS } from "../../src/policy/model.ts";
import { Workplace } from "../kernel/faraday-run.ts";
import { exchangesOf, replay } from "./console-session.ts";
import { type Block, blocksOf, readDocument, tableRows } from "./markdown-blocks.ts";

const text = readDocument("docs/policy.md");
const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

/** A block that begins with the name of a file in a comment is that file. */
const nameOf = ({ text: policy, line }: Block): string =>
  /^# (\S+\.toml)\n/.exec(policy)?.[1] ?? `line-${line}.toml`;

const examples = blocksOf(text, "toml").map((block) => ({
  line: block.line,
  path: place.write(nameOf(block), block.text),
  testCount: block.text.split("[[test]]").length - 1,
}));

describe("docs/policy.md", () => {
  test.each(examples)("line $line: the example loads without a warning", ({ path, testCount }) => {
    const env = (name: string) => (name === "HOME" ? "/home/ann" : undefined);
    const loaded = loadPolicy(path, { env, home: "/home/ann" });
    if (!loaded.ok) throw new Error(loaded.error.map(({ message }) => message).join("\n"));
    expect(loaded.value.warnings).toEqual([]);
    // They were judged, or loading would have failed: here it is made sure that they were seen.
    expect(loaded.value.policy.tests).toHaveLength(testCount);
  });

  test.each(blocksOf(text, "console").map((block) => [block.line, block.text] as const))(
    "line %d: the commands print what the document says",
    async (_, block) => {
      const told = exchangesOf(block);
      expect(await replay(place, told)).toEqual([...told]);
    },
  );

  test("has every match key", () => {
    const told = tableRows(text, "`[[rule]]`").map(([key]) => key?.replaceAll("`", ""));
    for (const key of MATCH_KEYS) expect(told).toContain(key);
  });

  // The keys are those that the readers of the tables check against.
  test.each([
    ...["[meta]", "[[rule]]", "[[test]]", "[audit]", "[filesystem]"],
    ...["[network]", "[network.routes.NAME]", "[credentials.KEY]"],
  ])("names every key of %s, and no other", async (table) => {
    const source = await Bun.file(sourceOf(table)).text();
    const list = new RegExp(`${KEY_LISTS[table]}\\(?\\[?([^\\]]*)\\]`).exec(source)?.[1] ?? "";
    const known = Array.from(list.matchAll(/"(\w+)"/g), ([, key]) => key ?? "");
    expect(known.length).toBeGreaterThan(0);
    const heading = `\`${table}\``;
    const section = text.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}`));
    for (const key of known) expect(section).toContain(`\`${key}\``);
    const told = tableRows(text, heading).map(([key]) => key?.replaceAll("`", "") ?? "");
    const keys = told.filter((key) => /^[a-z_]+$/.test(key));
    const extra = table === "[[rule]]" ? MATCH_KEYS : [];
    for (const key of keys) expect([...known, ...extra, "allow", "deny"]).toContain(key);
  });
});

const KEY_LISTS: Readonly<Record<string, string>> = {
  "[meta]": "META_KEYS = ",
  "[[rule]]": "OWN_KEYS = ",
  "[[test]]": "const KEYS = ",
  "[audit]": "audit\\?\\.checkKeys",
  "[filesystem]": "const KEYS = ",
  "[network]": "const KEYS = ",
  "[network.routes.NAME]": "const KEYS = ",
  "[credentials.KEY]": "const SOURCES = ",
};

function sourceOf(table: string): URL {
  const isRoute = table.startsWith("[network.routes");
  const found = /rule|test|filesystem|network|credentials/.exec(table)?.[0] ?? "document";
  const file = isRoute ? "route" : found;
  return new URL(`../../src/policy/read-${file}.ts`, import.meta.url);
}
