import { describe, expect, test } from "bun:test";
import { compileLinearRegex } from "../../src/policy/linear-regex.ts";
import { hasRequired, requiredText } from "../../src/policy/required-text.ts";

const prefix = (text: string) => ({ text, isPrefix: true });
const part = (text: string) => ({ text, isPrefix: false });

describe("requiredText()", () => {
  test.each([
    { pattern: "^git push", required: prefix("git push"), because: "all of it is literal" },
    { pattern: "push", required: part("push"), because: "without an anchor it may stand anywhere" },
    { pattern: "^git (push|pull)", required: prefix("git "), because: "a group is a choice" },
    { pattern: "(^| )--force( |$)", required: part("--force"), because: "between two groups" },
    {
      pattern: "^gits?$",
      required: prefix("git"),
      because: "what may be left out is not required",
    },
    { pattern: "^ab{0,3}c", required: null, because: "counted repetitions are not looked at" },
    { pattern: "^x*abc", required: part("abc"), because: "something may stand before it" },
    { pattern: "^.abc", required: part("abc"), because: "something stands before it" },
    { pattern: "a+", required: null, because: "the run before a repetition is cut" },
    { pattern: "ab+c", required: part("a"), because: "the first of two equal runs" },
    { pattern: "\\.env$", required: part(".env"), because: "an escaped mark is itself" },
    { pattern: "\\d\\sabc", required: part("abc"), because: "a class escape is no text" },
    { pattern: "[abc]def[^x]", required: part("def"), because: "classes are no text" },
    { pattern: "abc|def", required: null, because: "a choice at the top leaves either out" },
    { pattern: "(abc)", required: null, because: "what is in a group is not looked at" },
    { pattern: "(?i)abc", required: null, because: "another case is other text" },
    { pattern: "", required: null, because: "nothing is required" },
  ])("$pattern: $because", ({ pattern, required }) => {
    expect(requiredText(pattern)).toEqual(required);
  });
});

/** A generator of its own, so that a failure comes again. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

test("whatever a pattern finds has what it requires", () => {
  const pieces =
    "a b - \\. \\- \\d [ab] [^a] . ( (?: ) | ^ $ * + ? {0,2} ab --a *? ++ \\\\ [-a] (?i)"
      .split(" ")
      .concat(" ");
  const letters = ["a", "b", "-", ".", "1", " ", "A", "\\", "\n"];
  const next = numbers(20_261_118);
  const seen = { told: 0, found: 0, refused: 0 };
  for (let round = 0; round < 60_000; round++) {
    const pick = (from: readonly string[]): string => from[next(from.length)] as string;
    const pattern = Array.from({ length: 1 + next(7) }, () => pick(pieces)).join("");
    const required = requiredText(pattern);
    if (required === null) continue;
    seen.told++;
    const regex = compileLinearRegex(pattern, { dotAll: next(2) === 0 });
    if (!regex.ok) throw new Error(`${pattern}: ${regex.error.message}`);
    for (let tries = 0; tries < 6; tries++) {
      const text = Array.from({ length: next(9) }, () => pick(letters)).join("");
      const has = hasRequired(text, required);
      if (!has) seen.refused++;
      if (!regex.value.test(text)) continue;
      seen.found++;
      if (!has)
        throw new Error(`${pattern} finds ${JSON.stringify(text)} without what it requires`);
    }
  }
  // It would be no test if one of these never came.
  expect(seen.told).toBeGreaterThan(1_000);
  expect(seen.found).toBeGreaterThan(500);
  expect(seen.refused).toBeGreaterThan(1_000);
});
