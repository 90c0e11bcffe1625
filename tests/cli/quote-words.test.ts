import { expect, test } from "bun:test";
import { quoteWords } from "../../src/cli/quote-words.ts";

test.each([
  { word: "a-b_c/d.e=f:g", is: "a-b_c/d.e=f:g" },
  { word: "", is: "''" },
  { word: "a b", is: "'a b'" },
  { word: "$HOME", is: "'$HOME'" },
  { word: "it's", is: "'it'\\''s'" },
  { word: "a\nb", is: "$'a\\x0ab'" },
  { word: "\u001b[31m", is: "$'\\x1b[31m'" },
  { word: "\u202e", is: "$'\\U0000202e'" },
  { word: "\udcff", is: "$'\\xff'" },
  { word: "名", is: "'名'" },
])("quoteWords() writes $word as $is", ({ word, is }) => {
  expect(quoteWords([word])).toBe(is);
});

test("quoteWords() writes what bash reads back as the same bytes", () => {
  const words = ["a b", "it's", "a\nb", "back\\slash", "\u001b'x'", "é", "*", "~", "\u202e9"];
  const line = quoteWords(words);
  const read = Bun.spawnSync(["bash", "-c", `printf '%s\\0' ${line}`], {
    env: { LC_ALL: "C.UTF-8", PATH: "/usr/bin:/bin" },
  });
  expect(read.stdout.toString().split("\0").slice(0, -1)).toEqual(words);
});
