import { closestName } from "./closest-name.ts";
import type { Condition, MatchKey, Rule } from "./model.ts";
import { MATCH_KEYS } from "./model.ts";
import { readCondition } from "./read-condition.ts";
import type { ReadContext } from "./read-context.ts";
import { TableReader } from "./table-reader.ts";
import type { TomlString, TomlTable } from "./toml-tree.ts";

const OWN_KEYS = ["id", "action", "reason"];
const KNOWN_KEYS = [...OWN_KEYS, ...MATCH_KEYS, ...MATCH_KEYS.map((key) => `${key}_not`)];
const ID = /^[A-Za-z0-9._:-]+$/;

/** Reads a `[[rule]]`; null if anything in it is wrong (and reported). */
export function readRule(table: TomlTable, context: ReadContext): Rule | null {
  const { source, problems } = context;
  const reader = new TableReader(table, "[[rule]]", source, problems);
  const errorsBefore = problems.errors.length;
  reader.checkKeys(KNOWN_KEYS, suggestNegation);
  const id = readId(reader);
  if (reader.get("action") === undefined) {
    reader.missing("action", 'add action = "allow" or action = "deny"');
  }
  const action = reader.oneOf("action", ["allow", "deny"]);
  const reason = reader.string("reason");
  const conditions = readConditions(reader, context);
  if (id === null || action === undefined || problems.errors.length > errorsBefore) return null;
  const done = action === "allow" ? "allowed" : "denied";
  return {
    id: id.value,
    action,
    reason: reason?.value ?? `${done} by rule "${id.value}"`,
    conditions,
    span: reader.spanOf(id),
  };
}

/** `not_exe` and `exe_basenam_not` are better guessed by their positive part. */
function suggestNegation(key: string): string | null {
  const stem = key.replace(/^not_|_not$/, "");
  if (stem === key) return null;
  const near = closestName(stem, MATCH_KEYS);
  return near === null ? null : `did you mean \`${near}_not\`?`;
}

function readId(reader: TableReader): TomlString | null {
  if (reader.get("id") === undefined) {
    reader.missing("id", 'add id = "a-short-name": verdicts and the audit log show it');
    return null;
  }
  const node = reader.string("id");
  if (node === undefined) return null;
  if (!ID.test(node.value)) {
    const hint = "use letters, digits, `.`, `_`, `:` and `-`";
    reader.error("bad-value", node, `"${node.value}" is no rule id`, hint);
    return null;
  }
  if (node.value === "default" || node.value.startsWith("builtin:")) {
    const message = `the id "${node.value}" is taken by Faraday's own verdicts`;
    reader.error("bad-value", node, message, "choose another id");
    return null;
  }
  return node;
}

function readConditions(reader: TableReader, context: ReadContext): Condition[] {
  const conditions: Condition[] = [];
  for (const entry of reader.table.entries.values()) {
    const negated = entry.key.endsWith("_not");
    const stem = negated ? entry.key.slice(0, -"_not".length) : entry.key;
    const key: MatchKey | undefined = MATCH_KEYS.find((each) => each === stem);
    if (key === undefined) continue;
    const condition = readCondition(reader, entry, { key, negated }, context);
    if (condition !== null) conditions.push(condition);
  }
  return conditions;
}
