import { afterAll, expect, test } from "bun:test";
import { Workplace } from "../kernel/faraday-run.ts";
import { type Exchange, exchangesOf, replay } from "./console-session.ts";
import { blocksOf, readDocument } from "./markdown-blocks.ts";

const text = readDocument("README.md");
const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

for (const block of blocksOf(text, "toml")) place.write("policy.toml", block.text);

/** A rule of the default policy moves down whenever one is added above it. */
const withoutLine = ({ command, output }: Exchange): Exchange => ({
  command,
  output: output.replace(/\(builtin:\w+:\d+\)/, "(builtin:X:N)"),
});

test.each(blocksOf(text, "console").map((block) => [block.line, block.text] as const))(
  "README.md, line %d: the commands print what it says",
  async (_, block) => {
    const told = exchangesOf(block);
    const real = await replay(place, told);
    expect(real.map(withoutLine)).toEqual(told.map(withoutLine));
  },
);
