import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  renderSession,
  sessionLines,
  textOfPicture,
} from "../../scripts/picture/render-session.ts";
import { recordSession } from "../../scripts/picture/session.ts";
import { plainText, readStyledText } from "../../scripts/picture/styled-text.ts";
import { REPOSITORY } from "../../scripts/source-files.ts";
import { FARADAY } from "../kernel/faraday-run.ts";
import { readDocument } from "./markdown-blocks.ts";

/** A rule of the default policy moves down whenever one is added above it. */
const withoutNumber = (line: string) => line.replace(/builtin:\w+:\d+/, "builtin:X:N");

test("docs/session.svg shows what a run prints (`npm run picture` makes it anew)", () => {
  const place = join(REPOSITORY, `build/picture-test-${process.pid}`);
  const fresh = sessionLines(recordSession(FARADAY, place)).map(plainText);
  const shown = textOfPicture(readDocument("docs/session.svg"));
  expect(shown.map(withoutNumber)).toEqual(fresh.filter((line) => line !== "").map(withoutNumber));
  expect(shown).toContain("cat: /home/ann/.ssh/id_rsa: Permission denied");
  // The control: what an agent is for works.
  expect(shown).toContain("sum adds");
});

test("a picture holds its text, escaped, and wraps long lines", () => {
  const long = "x".repeat(110);
  const svg = renderSession(
    [{ command: 'a <b> & "c"', output: [long, "\u001b[1;31mred\u001b[0m!"] }],
    "t",
  );
  expect(textOfPicture(svg)).toEqual(['$ a <b> & "c"', "x".repeat(108), "xx", "red!"]);
  expect(svg).toContain('class="c1 bold"');
});

test("a sequence that cannot be shown is an error", () => {
  expect(() => readStyledText("\u001b[2Jcleared")).toThrow("unknown sequence");
  expect(() => readStyledText("\u001b[7mreversed")).toThrow("unknown colour");
});
