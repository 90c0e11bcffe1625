import { afterAll, expect, test } from "bun:test";
import { loadPolicy } from "../../src/launch/load-policy.ts";
import { Workplace } from "../kernel/faraday-run.ts";
import { exchangesOf, replay } from "./console-session.ts";
import { blocksOf, readDocument } from "./markdown-blocks.ts";

const text = readDocument("docs/network.md");
const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

// A block that begins with the name of a file in a comment is that file.
const policies = blocksOf(text, "toml").map(({ line, text: policy }) => {
  const name = /^# (\S+\.toml)\n/.exec(policy)?.[1] ?? `line-${line}.toml`;
  return [line, place.write(name, policy)] as const;
});

test.each(policies)("docs/network.md, line %d: the policy loads without a warning", (_, path) => {
  const loaded = loadPolicy(path, { env: () => undefined, home: "/home/ann" });
  expect(loaded.ok ? loaded.value.warnings : loaded.error).toEqual([]);
});

test.each(blocksOf(text, "console").map((block) => [block.line, block.text] as const))(
  "docs/network.md, line %d: the commands print what it says",
  async (_, block) => {
    const told = exchangesOf(block);
    expect(await replay(place, told)).toEqual([...told]);
  },
);
