import { expect, test } from "bun:test";
import { styleViolations } from "../../scripts/check-style.ts";
import { sourceFiles } from "../../scripts/source-files.ts";

const body = (lines: number, indent = "  ") => `${indent}work();\n`.repeat(lines);

test("check-style finds nothing in the repository", () => {
  expect(styleViolations(sourceFiles())).toEqual([]);
});

// Put together here, so that the check does not find this file.
const unfinished = ["TO", "DO"].join("");
const workplace = `${["", "work"].join("/")}/main/src`;
const registry = ["registry", "npmjs", "org"].join(".");

test.each([
  { because: "301 lines", path: "src/a.ts", text: "work();\n".repeat(301) },
  { because: "101 columns", path: "src/a.ts", text: `// ${"x".repeat(98)}` },
  { because: "71 lines", path: "src/a.ts", text: `function f() {\n${body(69)}}\n` },
  { because: "an arrow", path: "src/a.ts", text: `const f = () => {\n${body(69)}};\n` },
  {
    because: "a method",
    path: "src/a.ts",
    text: `class A {\n  f() {\n${body(69, "    ")}  }\n}\n`,
  },
  {
    because: "a head of several lines",
    path: "src/a.ts",
    text: `export async function f(\n  a: A,\n): Promise<B> {\n${body(67)}}\n`,
  },
  { because: "a vague name", path: "src/path-utils.ts", text: "" },
  { because: "types.ts", path: "src/policy/types.ts", text: "" },
  { because: "module state", path: "src/a.ts", text: "let counter = 0;" },
  { because: "exported module state", path: "src/a.ts", text: "export let counter = 0;" },
  { because: "unfinished work", path: "src/a.ts", text: `// ${unfinished}: later` },
  { because: "unfinished work in a document", path: "README.md", text: `${unfinished} later` },
  { because: "a lone test", path: "tests/a.test.ts", text: 'test.only("x", f);' },
  { because: "a test left out", path: "tests/a.test.ts", text: 'describe.skip("x", f);' },
  { because: "a path of this machine", path: "scripts/x", text: `cd ${workplace}` },
  { because: "the checkout's own path", path: "README.md", text: "see /somewhere/checkout/a" },
  { because: "a registry", path: ".npmrc", text: `url=${registry}` },
  { because: "a resolved address", path: "package-lock.json", text: '"resolved": "x"' },
])("check-style catches $because", ({ path, text }) => {
  expect(styleViolations([{ path, text }], { root: "/somewhere/checkout" })).toHaveLength(1);
});

test.each([
  { because: "300 lines", path: "src/a.ts", text: "work();\n".repeat(300) },
  { because: "a reason", path: "src/a.ts", text: `// long: data\n${"work();\n".repeat(400)}` },
  { because: "100 columns", path: "src/a.ts", text: `// ${"x".repeat(97)}` },
  { because: "70 lines", path: "src/a.ts", text: `function f() {\n${body(68)}}\n` },
  { because: "two short ones", path: "src/a.ts", text: `f() {\n${body(40)}}\n`.repeat(2) },
  {
    because: "a describe block",
    path: "tests/a.test.ts",
    text: `describe("", () => {\n${body(90)}});`,
  },
  { because: "a local let", path: "src/a.ts", text: "function f() {\n  let a = 0;\n}\n" },
  { because: "let in prose", path: "src/a.ts", text: "/*\nlet it be\n*/" },
  { because: "a conditional test", path: "tests/a.test.ts", text: 'test.skipIf(x)("y", f);' },
  { because: "a registry in an example", path: "policies/a.toml", text: registry },
  { because: "a similar path", path: "README.md", text: "/somewhere/checkouts" },
])("check-style lets $because pass", ({ path, text }) => {
  expect(styleViolations([{ path, text }], { root: "/somewhere/checkout" })).toEqual([]);
});
