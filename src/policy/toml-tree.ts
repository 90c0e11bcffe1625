/**
 * A TOML document as a tree in which every key and value knows where it stands. The parsing is
 * toml-eslint-parser's, the one TOML parser on npm that keeps positions; this file only turns its
 * syntax tree (a list of headers and assignments) into nested tables.
 */
import type { AST } from "toml-eslint-parser";
import type { Diagnostic } from "./diagnostic.ts";
import { readPlainToml } from "./plain-toml.ts";
import { err, ok, type Result } from "./result.ts";
import type { SourceText } from "./source-text.ts";

export interface TomlEntry {
  readonly key: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly value: TomlNode;
}

interface Located {
  readonly start: number;
  readonly end: number;
}

export interface TomlString extends Located {
  readonly type: "string";
  readonly value: string;
}

export interface TomlArray extends Located {
  readonly type: "array";
  readonly elements: TomlNode[];
}

export interface TomlTable extends Located {
  readonly type: "table";
  readonly entries: Map<string, TomlEntry>;
}

export type TomlNode =
  | TomlString
  | TomlArray
  | TomlTable
  | (Located & { readonly type: "integer"; readonly value: number })
  | (Located & { readonly type: "float"; readonly value: number })
  | (Located & { readonly type: "boolean"; readonly value: boolean })
  | (Located & { readonly type: "date" });

/** Parses a whole file. TOML syntax errors end the reading, so there is at most one. */
export function parseToml(source: SourceText): Result<TomlTable, Diagnostic> {
  const plain = readPlainToml(source.text);
  return plain === null ? parseAnyToml(source) : ok(plain);
}

/** Loaded at first use: it is large, and most policies are plain. */
const fullParser = (): typeof import("toml-eslint-parser") => require("toml-eslint-parser");

/** The full parser alone. */
export function parseAnyToml(source: SourceText): Result<TomlTable, Diagnostic> {
  const { ParseError, parseTOML } = fullParser();
  try {
    const program = parseTOML(source.text, { tomlVersion: "1.0" });
    const root = newTable(0, source.text.length);
    for (const node of program.body[0].body) {
      if (node.type === "TOMLKeyValue") assign(root, node);
      else addTable(root, node);
    }
    return ok(root);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const at = Math.min(error.index, source.text.length);
    return err({
      severity: "error",
      code: "toml-syntax",
      message: `not valid TOML: ${error.message}`,
      span: source.span(at, at + 1),
      hint: syntaxHint(source.text, at),
    });
  }
}

function syntaxHint(text: string, at: number): string | null {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at + 1);
  // A regular expression in a basic string is by far the most frequent syntax error.
  if (line.includes("\\")) return "a backslash is taken literally in a 'single-quoted' string";
  // Nothing but a quotation mark, a digit, a bracket or true and false begins a value.
  if (/=\s*[A-Za-z_~/$.*]$/.test(line)) return 'text stands in quotes, as in key = "value"';
  if (/^\s*\{/.test(text)) return "a policy is TOML, not JSON; `faraday help policy` shows one";
  if (/^\s*\w+:/.test(line) || line.startsWith("---")) {
    return "a policy is TOML, not YAML; `faraday help policy` shows one";
  }
  return null;
}

function newTable(start: number, end: number): TomlTable {
  return { type: "table", entries: new Map(), start, end };
}

function addTable(root: TomlTable, node: AST.TOMLTable): void {
  const keys = node.key.keys;
  let table = root;
  keys.forEach((key, index) => {
    const last = index === keys.length - 1;
    table = enter(table, key, last && node.kind === "array" ? "append" : "open");
  });
  for (const pair of node.body) assign(table, pair);
}

/** Steps into the table a header's part names; of an array of tables that is the last one. */
function enter(table: TomlTable, part: AST.TOMLBare | AST.TOMLQuoted, how: "open" | "append") {
  const key = keyText(part);
  const [start, end] = part.range;
  const present = table.entries.get(key)?.value;
  if (present?.type === "table") return present;
  const fresh = newTable(start, end);
  if (present?.type === "array") {
    const last = present.elements.at(-1);
    if (how === "open" && last?.type === "table") return last;
    present.elements.push(fresh);
    return fresh;
  }
  const value: TomlNode =
    how === "append" ? { type: "array", elements: [fresh], start, end } : fresh;
  table.entries.set(key, { key, keyStart: start, keyEnd: end, value });
  return fresh;
}

function assign(table: TomlTable, node: AST.TOMLKeyValue): void {
  let target = table;
  const keys = node.key.keys;
  keys.slice(0, -1).forEach((part) => {
    target = enter(target, part, "open");
  });
  const last = keys.at(-1);
  if (last === undefined) return;
  const [keyStart, keyEnd] = last.range;
  const key = keyText(last);
  target.entries.set(key, { key, keyStart, keyEnd, value: convert(node.value) });
}

function keyText(part: AST.TOMLBare | AST.TOMLQuoted): string {
  return part.type === "TOMLBare" ? part.name : part.value;
}

function convert(node: AST.TOMLContentNode): TomlNode {
  const [start, end] = node.range;
  switch (node.type) {
    case "TOMLArray":
      return { type: "array", elements: node.elements.map(convert), start, end };
    case "TOMLInlineTable": {
      const table = newTable(start, end);
      for (const pair of node.body) assign(table, pair);
      return table;
    }
    case "TOMLValue":
      switch (node.kind) {
        case "string":
          return { type: "string", value: node.value, start, end };
        case "integer":
          return { type: "integer", value: Number(node.bigint), start, end };
        case "float":
          return { type: "float", value: node.value, start, end };
        case "boolean":
          return { type: "boolean", value: node.value, start, end };
        default:
          return { type: "date", start, end };
      }
  }
}
