import { expect, test } from "bun:test";
import { compileLinearRegex, quoteRegex } from "../../src/policy/linear-regex.ts";

function search(pattern: string, text: string, options = { dotAll: false }): boolean {
  const regex = compileLinearRegex(pattern, options);
  if (!regex.ok) throw new Error(regex.error.message);
  return regex.value.test(text);
}

test.each([
  { pattern: "^git push", text: "git push", found: true, because: "the start of the text" },
  { pattern: "^git push", text: "x\ngit push", found: false, because: "a newline starts nothing" },
  { pattern: "status$", text: "git status", found: true, because: "the end of the text" },
  { pattern: "status$", text: "git status\nx", found: false, because: "a newline ends nothing" },
  { pattern: "status$", text: "git status\n", found: false, because: "not even the last one" },
  { pattern: "a.b", text: "a\nb", found: false, because: "`.` is no newline unless asked" },
  { pattern: "(?s)a.b", text: "a\nb", found: true, because: "a pattern may ask for it" },
  { pattern: "(?i)RM", text: "rm", found: true, because: "other flags work" },
  { pattern: "[^x]", text: "\udcff", found: true, because: "an invalid byte is a character" },
  { pattern: "^.$", text: "\udcff", found: true, because: "and exactly one" },
  { pattern: "é+$", text: "caféé", found: true, because: "text is characters, not bytes" },
])("test() of $pattern is $found: $because", ({ pattern, text, found }) => {
  expect(search(pattern, text)).toBe(found);
});

test("`.` matches a newline with dotAll", () => {
  expect(search("a.b", "a\nb", { dotAll: true })).toBe(true);
  expect(search("(?-s)a.b", "a\nb", { dotAll: true })).toBe(false);
});

test.each([
  { pattern: "(?m)^a" },
  { pattern: "(?im)^a" },
  { pattern: "x(?m:^a)" },
  { pattern: "(?ms-i)a" },
])("$pattern is refused for its flag m", ({ pattern }) => {
  const result = compileLinearRegex(pattern, { dotAll: false });
  expect(result.ok ? null : result.error.message).toStartWith("the flag `m` would let");
});

test.each([
  { pattern: "(?-m)^a", because: "switches off what is off" },
  { pattern: "\\(?m)?", because: "no group: the bracket is escaped" },
  { pattern: "[(?m)]", because: "a class" },
  { pattern: "\\Q(?m)\\E", because: "quoted" },
  { pattern: "(?P<m>a)", because: "a name" },
])("$pattern is not taken for the flag m: $because", ({ pattern }) => {
  const result = compileLinearRegex(pattern, { dotAll: false });
  const message = result.ok ? "" : result.error.message;
  expect(message).not.toContain("flag");
});

test.each([
  { pattern: "(?=a)", hint: "has no lookaround" },
  { pattern: "(?!a)", hint: "has no lookaround" },
  { pattern: "(?<=a)b", hint: "has no lookaround" },
  { pattern: "(?<!a)b", hint: "has no lookaround" },
  { pattern: "(a)\\1", hint: "has no backreferences" },
  { pattern: "(?>a)", hint: "no atomic groups" },
  { pattern: "a++", hint: "no atomic groups" },
  { pattern: "a{1001}", hint: "up to 1000" },
  { pattern: "(a{1000}){1000}", hint: "up to 1000" },
  { pattern: "(abc){500}", hint: "smaller repetition counts" },
  { pattern: "a".repeat(10_001), hint: "split it" },
  { pattern: "(", hint: "" },
  { pattern: "[a", hint: "" },
  { pattern: "*", hint: "" },
  { pattern: "\\", hint: "" },
])("$pattern is refused", ({ pattern, hint }) => {
  const result = compileLinearRegex(pattern, { dotAll: false });
  expect(result.ok).toBe(false);
  if (!result.ok) expect(result.error.hint ?? "").toContain(hint);
});

test("quoteRegex() makes any text match itself and nothing else", () => {
  const text = "a.b*c+d?e(f)g[h]i{2}j|k^l$m\\n-o /~";
  expect(search(`^${quoteRegex(text)}$`, text)).toBe(true);
  expect(search(`^${quoteRegex("a.b")}$`, "axb")).toBe(false);
  expect(search(`[${quoteRegex("a-c")}]`, "b")).toBe(false);
});

const nasty = [
  "(a+)+$",
  "(a|a)*b",
  "(.*)(.*)(.*)(.*)=",
  "(a|b|ab)*c",
  "(?:a?){50}a{50}$",
  "\\ba*\\b!",
];

test.each(nasty.map((pattern) => ({ pattern })))("$pattern ends on 2 MiB", ({ pattern }) => {
  search(pattern, "a".repeat(2 << 20));
  search(pattern, "ab ".repeat((2 << 20) / 3));
});

test("a pattern whose automaton explodes ends, and gives its memory back", () => {
  const text = Array.from({ length: 1 << 18 }, (_, i) => (((i * i) >> 3) % 3 === 0 ? "a" : "b"));
  const regex = compileLinearRegex("(a|b)*a(a|b){40}c", { dotAll: false });
  const withEnd = `${text.join("")}c`;
  for (let i = 0; i < 3; i++) if (regex.ok) regex.value.test(withEnd);
  expect(regex.ok).toBe(true);
});
