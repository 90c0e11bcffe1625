/** The schema says what the readers of policies know: no more, and no less. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import { REPOSITORY } from "../../scripts/source-files.ts";
import { BUILTIN_POLICIES } from "../../src/launch/builtin-policies.ts";
import { policySchema, type Schema } from "../../src/policy/policy-schema.ts";
import { TableReader } from "../../src/policy/table-reader.ts";
import { blocksOf } from "../docs/markdown-blocks.ts";
import { parse } from "./policy-fixture.ts";

const EVERY_TABLE = `
[meta]
[[rule]]
[[test]]
[filesystem]
[audit]
[network]
[network.routes.api]
endpoint_rules = [{}]
[credentials.key]
`;

/** What each reader accepts, told by itself. */
const known = new Map<string, readonly string[]>();
const original = TableReader.prototype.checkKeys;

beforeAll(() => {
  TableReader.prototype.checkKeys = function (keys, hintFor) {
    known.set(this.title, keys);
    original.call(this, keys, hintFor);
  };
  parse(EVERY_TABLE);
});
afterAll(() => {
  TableReader.prototype.checkKeys = original;
});

const schema = policySchema();
const at = (from: Schema, ...path: readonly string[]): Schema =>
  path.reduce((each, key) => each[key] as Schema, from);
const keysOf = (from: Schema): readonly string[] => Object.keys(at(from, "properties"));

describe("the schema has the keys of", () => {
  const tables: readonly (readonly [string, Schema])[] = [
    ["[meta]", at(schema, "properties", "meta")],
    ["[[rule]]", at(schema, "properties", "rule", "items")],
    ["[[test]]", at(schema, "properties", "test", "items")],
    ["[filesystem]", at(schema, "properties", "filesystem")],
    ["[audit]", at(schema, "properties", "audit")],
    ["[network]", at(schema, "properties", "network")],
    [
      "[network.routes.api]",
      at(schema, "properties", "network", "properties", "routes", "additionalProperties"),
    ],
    ["[credentials.key]", at(schema, "properties", "credentials", "additionalProperties")],
    [
      "an endpoint rule",
      at(
        schema,
        ...["properties", "network", "properties", "routes", "additionalProperties"],
        ...["properties", "endpoint_rules", "items"],
      ),
    ],
  ];
  test.each(tables.map(([title, own]) => ({ title, own })))("$title", ({ title, own }) => {
    expect([...keysOf(own)].sort()).toEqual([...(known.get(title) ?? [])].sort());
    for (const key of keysOf(own)) {
      expect(at(own, "properties", key).description).toEqual(expect.any(String));
    }
  });

  test("every table that a reader knows", () => {
    expect([...known.keys()].sort()).toEqual(tables.map(([title]) => title).sort());
  });

  test("a policy as a whole", () => {
    const result = parse("[nothing]\nx = 1\n");
    const hint = result.ok ? "" : (result.error[0]?.hint ?? "");
    const listed = Array.from(hint.matchAll(/\[([a-z]+)\]/g), ([, name]) => name ?? "");
    expect([...keysOf(schema)].sort()).toEqual([...listed, "extends"].sort());
  });
});

describe("a validator takes", () => {
  const validate = new Ajv2020({ allErrors: true }).compile(schema);
  const problems = (text: string): unknown => {
    const isValid = validate(Bun.TOML.parse(text));
    return isValid ? null : validate.errors;
  };
  test.each(Object.entries(BUILTIN_POLICIES))("policies/%s.toml", (_, text) => {
    expect(problems(text)).toBeNull();
  });

  test("every example of docs/policy.md", () => {
    const document = readFileSync(join(REPOSITORY, "docs/policy.md"), "utf8");
    const examples = blocksOf(document, "toml");
    expect(examples.length).toBeGreaterThan(5);
    for (const { text } of examples) expect(problems(text)).toBeNull();
  });

  test.each([
    { text: "[meta]\nversion = 2", because: "another version" },
    { text: '[meta]\ndefault_action = "maybe"', because: "no such action" },
    { text: '[[rule]]\naction = "allow"', because: "a rule without an id" },
    { text: '[[rule]]\nid = "a"\naction = "allow"\nexe_basname = "x"', because: "a misspelt key" },
    { text: "[filesystem]\nread_globs = 1", because: "a wrong type" },
    { text: "[nothing]", because: "an unknown table" },
  ])("not what Faraday refuses: $because", ({ text }) => {
    expect(problems(text)).not.toBeNull();
    expect(parse(text).ok).toBe(false);
  });
});

test("the schema beside the policies is the one of this version", () => {
  const file = readFileSync(join(REPOSITORY, "policies/faraday.schema.json"), "utf8");
  expect(file).toBe(`${JSON.stringify(schema, null, 2)}\n`);
});

test.each(Object.entries(BUILTIN_POLICIES))("policies/%s.toml names it for editors", (_, text) => {
  expect(text).toStartWith("#:schema ./faraday.schema.json\n");
});
