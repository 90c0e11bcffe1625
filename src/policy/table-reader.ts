import { closestName } from "./closest-name.ts";
import type { Diagnostic, Span } from "./diagnostic.ts";
import type { ErrorCode, ProblemList } from "./problem-list.ts";
import type { SourceText } from "./source-text.ts";
import type { TomlEntry, TomlNode, TomlString, TomlTable } from "./toml-tree.ts";

/** Takes typed values out of a table and reports what is there but should not be. */
export class TableReader {
  readonly table: TomlTable;
  /** As in messages: `[meta]`, `[[rule]]`. */
  readonly title: string;
  readonly source: SourceText;
  readonly problems: ProblemList;

  constructor(table: TomlTable, title: string, source: SourceText, problems: ProblemList) {
    this.table = table;
    this.title = title;
    this.source = source;
    this.problems = problems;
  }

  get span(): Span {
    return this.source.span(this.table.start, this.table.end);
  }

  spanOf(node: TomlNode): Span {
    return this.source.span(node.start, node.end);
  }

  keySpan(entry: TomlEntry): Span {
    return this.source.span(entry.keyStart, entry.keyEnd);
  }

  get(key: string): TomlEntry | undefined {
    return this.table.entries.get(key);
  }

  error(code: ErrorCode, node: TomlNode, message: string, hint: string | null = null): void {
    this.problems.error(code, this.spanOf(node), message, hint);
  }

  /** Reports every key that is not among those known. */
  checkKeys(known: readonly string[], hintFor?: (key: string) => Diagnostic["hint"]): void {
    for (const entry of this.table.entries.values()) {
      if (known.includes(entry.key)) continue;
      const message = `${this.title} has no key \`${entry.key}\``;
      const near = closestName(entry.key, known);
      const guess = near === null ? null : `did you mean \`${near}\`?`;
      const hint = hintFor?.(entry.key) ?? guess;
      this.problems.error("unknown-key", this.keySpan(entry), message, hint);
    }
  }

  missing(key: string, hint: string): void {
    this.problems.error("missing-key", this.span, `${this.title} has no \`${key}\``, hint);
  }

  wrongType(key: string, node: TomlNode, wanted: string): void {
    const message = `\`${key}\` must be ${wanted}, not ${describeType(node)}`;
    this.error("wrong-type", node, message);
  }

  string(key: string): TomlString | undefined {
    const node = this.get(key)?.value;
    if (node === undefined) return undefined;
    if (node.type === "string") return node;
    this.wrongType(key, node, "a string");
    return undefined;
  }

  boolean(key: string): boolean | undefined {
    const node = this.get(key)?.value;
    if (node === undefined) return undefined;
    if (node.type === "boolean") return node.value;
    this.wrongType(key, node, "true or false");
    return undefined;
  }

  integer(key: string, range: { readonly min: number; readonly max: number }): number | undefined {
    const node = this.get(key)?.value;
    if (node === undefined) return undefined;
    if (node.type !== "integer") {
      this.wrongType(key, node, "an integer");
      return undefined;
    }
    if (node.value >= range.min && node.value <= range.max) return node.value;
    const message = `\`${key}\` must be from ${range.min} to ${range.max}, not ${node.value}`;
    this.error("bad-value", node, message);
    return undefined;
  }

  oneOf<const T extends string>(key: string, choices: readonly T[]): T | undefined {
    const node = this.string(key);
    if (node === undefined) return undefined;
    const choice = choices.find((each) => each === node.value);
    if (choice !== undefined) return choice;
    const wanted = choices.map((each) => `"${each}"`).join(" or ");
    const near = closestName(node.value, choices);
    const hint = near === null ? null : `did you mean "${near}"?`;
    this.error("bad-value", node, `\`${key}\` must be ${wanted}, not "${node.value}"`, hint);
    return undefined;
  }

  /** A scalar stands for a list of one. Elements of another type are reported and left out. */
  strings(key: string): TomlString[] | undefined {
    const nodes = this.list(key);
    if (nodes === undefined) return undefined;
    const strings: TomlString[] = [];
    const wanted = this.get(key)?.value.type === "array" ? "made of strings" : "a string or a list";
    for (const node of nodes) {
      if (node.type === "string") strings.push(node);
      else this.wrongType(key, node, wanted);
    }
    return strings;
  }

  list(key: string): readonly TomlNode[] | undefined {
    const node = this.get(key)?.value;
    if (node === undefined) return undefined;
    return node.type === "array" ? node.elements : [node];
  }
}

export function describeType(node: TomlNode): string {
  switch (node.type) {
    case "string":
      return "a string";
    case "array":
      return "a list";
    case "table":
      return "a table";
    case "integer":
      return "an integer";
    case "float":
      return "a float";
    case "boolean":
      return "a boolean";
    case "date":
      return "a date";
  }
}
