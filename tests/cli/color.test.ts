import { expect, test } from "bun:test";
import { wantsColor } from "../../src/cli/color.ts";

test.each([
  { choice: "auto", env: {}, terminal: true, is: true },
  { choice: "auto", env: {}, terminal: false, is: false },
  { choice: "auto", env: { NO_COLOR: "1" }, terminal: true, is: false },
  { choice: "auto", env: { NO_COLOR: "" }, terminal: true, is: true },
  { choice: "auto", env: { TERM: "dumb" }, terminal: true, is: false },
  { choice: "always", env: { NO_COLOR: "1" }, terminal: false, is: true },
  { choice: "never", env: {}, terminal: true, is: false },
] as const)("--color=$choice with $env, terminal $terminal: $is", (row) => {
  const env: Record<string, string> = { ...row.env };
  const answer = wantsColor(row.choice, { isTerminal: row.terminal }, (name) => env[name]);
  expect(answer).toBe(row.is);
});
