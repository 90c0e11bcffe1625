/** The short cuts of start-up must agree with what they cut short. */
import { expect, test } from "bun:test";
import defaultPolicy from "../../policies/default.toml" with { type: "text" };
import strictPolicy from "../../policies/strict.toml" with { type: "text" };
import { compileLinearRegex } from "../../src/policy/linear-regex.ts";
import { isPlainRegex } from "../../src/policy/plain-regex.ts";
import { readPlainToml } from "../../src/policy/plain-toml.ts";
import { SourceText } from "../../src/policy/source-text.ts";
import { parseAnyToml } from "../../src/policy/toml-tree.ts";

function* randomTexts(pieces: readonly string[], count: number, length: number) {
  let seed = 42;
  const next = (below: number): number => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  for (let i = 0; i < count; i++) {
    const size = 1 + next(length);
    yield Array.from({ length: size }, () => pieces[next(pieces.length)]).join("");
  }
}

function full(text: string): unknown {
  const result = parseAnyToml(new SourceText("x", text));
  return result.ok ? result.value : null;
}

test.each([
  { name: "default", text: defaultPolicy },
  { name: "strict", text: strictPolicy },
  { name: "with CRLF", text: defaultPolicy.replaceAll("\n", "\r\n") },
])("policies/$name is plain, and both parsers build the same tree", ({ text }) => {
  const plain = readPlainToml(text);
  expect(plain).not.toBeNull();
  expect(plain as unknown).toEqual(full(text));
});

test.each([
  { text: "" },
  { text: "# only" },
  { text: "a = 1 # x\n\n[t] # y\nb = 'c'\n" },
  { text: "a = [\n  1, # x\n  'b',\n]\n" },
  { text: "a = []\nb = [ ]\nc = ['x',]" },
  { text: "[[r]]\na = ''\n[[r]]\na = \"\"\n[t]\nx = true\ny=false" },
  { text: "-1_ = 0\n" },
])("plain TOML is read as the full parser reads it: $text", ({ text }) => {
  const plain = readPlainToml(text);
  expect(plain).not.toBeNull();
  expect(plain as unknown).toEqual(full(text));
});

test.each([
  { text: 'a = "\\n"' },
  { text: "a = '''x'''" },
  { text: 'a = """x"""' },
  { text: "a.b = 1" },
  { text: '"a" = 1' },
  { text: "[a.b]" },
  { text: "[ a ]" },
  { text: "a = {}" },
  { text: "a = [[1]]" },
  { text: "a = -1" },
  { text: "a = 01" },
  { text: "a = 0x1" },
  { text: "a = 1_0" },
  { text: "a = 1.5" },
  { text: "a = 2024-01-01" },
  { text: "a = 1 b = 2" },
  { text: "a = 1\na = 2" },
  { text: "[a]\n[a]" },
  { text: "a = 1\n[a]" },
  { text: "a = [1]\n[[a]]" },
  { text: "[[a]]\n[a]" },
  { text: "[a]\n[[a]]" },
  { text: "a = [1 2]" },
  { text: "a = [,]" },
  { text: "a = [1,,2]" },
  { text: "a = " },
  { text: "a" },
  { text: "a = 'x" },
  { text: "a = 'x\ny'" },
  { text: "a = 1\rb = 2" },
  { text: "# \x01" },
  { text: "a = 'x\ud800'" },
  { text: "a =\n1" },
  { text: "[a\n]" },
  { text: "[[a] ]" },
])("readPlainToml() leaves to the full parser: $text", ({ text }) => {
  expect(readPlainToml(text)).toBeNull();
});

test("on random texts readPlainToml() gives up or agrees", () => {
  const pieces = ["a", "b", " = ", "1", "'x'", '"y"', "[", "]", "[[r]]", "[t]", "\n", "\n", ","];
  pieces.push(
    " ",
    "#",
    "true",
    "0",
    ".",
    "-",
    "'",
    '"',
    "\r\n",
    "\\",
    "{",
    "}",
    "a = 1\n",
    "b = [",
  );
  let agreed = 0;
  for (const random of randomTexts(pieces, 20_000, 12)) {
    // At the very end of a text the full parser loses the last digit of a number's position.
    const text = `${random}\n`;
    const plain = readPlainToml(text);
    if (plain === null) continue;
    agreed++;
    expect({ text, tree: plain as unknown }).toEqual({ text, tree: full(text) });
  }
  expect(agreed).toBeGreaterThan(500);
});

test.each([
  { pattern: "^git (status|log|diff)( |$)", plain: true },
  { pattern: "(^|\\s)-[a-zA-Z]*[rRf][a-zA-Z]*\\s+/(\\s|$)", plain: true },
  { pattern: "(?:a|b)*?c+", plain: true },
  { pattern: "[^ ]+ (-[^ ]+ )*x", plain: true },
  { pattern: "[^- ][-a-z]", plain: true },
  { pattern: "[--z]", plain: false },
  { pattern: "a{2}", plain: false },
  { pattern: "(?i)a", plain: true },
  { pattern: "a(?i)b", plain: false },
  { pattern: "(?i)(?i)b", plain: false },
  { pattern: "(?i)*", plain: false },
  { pattern: "(?m)^a", plain: false },
  { pattern: "(?=a)", plain: false },
  { pattern: "\\1", plain: false },
  { pattern: "\\bx", plain: false },
  { pattern: "[z-a]", plain: false },
  { pattern: "[a", plain: false },
  { pattern: "a)", plain: false },
  { pattern: "(a", plain: false },
  { pattern: "*a", plain: false },
  { pattern: "a**", plain: false },
  { pattern: "^*", plain: false },
  { pattern: "é", plain: false },
  { pattern: "a".repeat(401), plain: false },
])("isPlainRegex() of $pattern is $plain", ({ pattern, plain }) => {
  expect(isPlainRegex(pattern)).toBe(plain);
});

test("every pattern that isPlainRegex() accepts compiles", () => {
  const pieces = [
    "a",
    "Z",
    "5",
    " ",
    "-",
    ".",
    "(",
    ")",
    "(?:",
    "|",
    "^",
    "$",
    "*",
    "+",
    "?",
    "*?",
  ];
  pieces.push("[", "]", "[^", "a-z", "0-9", "\\", "\\s", "\\.", "\\w", "/", "{", "}", ",", "[a-z]");
  let accepted = 0;
  for (const random of randomTexts(pieces, 100_000, 10)) {
    const pattern = accepted % 2 === 0 ? random : `(?i)${random}`;
    if (!isPlainRegex(pattern)) continue;
    accepted++;
    const { ok } = compileLinearRegex(pattern, { dotAll: false });
    expect([pattern, ok]).toEqual([pattern, true]);
  }
  expect(accepted).toBeGreaterThan(2_000);
});

test.each([
  { unit: "()" },
  { unit: "a*" },
  { unit: "(|" },
  { unit: "|" },
  { unit: "a?" },
  { unit: "[a-z]?" },
])("$unit over and over stays within the limit for programs", ({ unit }) => {
  const times = Math.floor(400 / unit.length);
  const pattern = unit === "(|" ? "(|".repeat(133) + ")".repeat(133) : unit.repeat(times);
  expect(isPlainRegex(pattern)).toBe(true);
  expect(compileLinearRegex(pattern, { dotAll: true }).ok).toBe(true);
});
