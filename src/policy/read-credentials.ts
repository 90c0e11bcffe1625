import { expandVariables, verbatim } from "./expand-variables.ts";
import type { CredentialPolicy, CredentialSource } from "./model.ts";
import type { ReadContext } from "./read-context.ts";
import { describeType, TableReader } from "./table-reader.ts";
import type { TomlEntry, TomlTable } from "./toml-tree.ts";

const SOURCES = ["env", "file", "command"];
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Reads `[credentials.KEY]` tables; those with a mistake are reported and left out. */
export function readCredentials(table: TomlTable, context: ReadContext): CredentialPolicy[] {
  const { source, problems } = context;
  return [...table.entries.values()].flatMap((entry) => {
    const span = source.span(entry.keyStart, entry.keyEnd);
    if (entry.value.type !== "table") {
      const type = describeType(entry.value);
      const message = `the credential \`${entry.key}\` must be a table, not ${type}`;
      const hint = `write [credentials.${entry.key}] on a line of its own`;
      problems.error("wrong-type", source.span(entry.value.start, entry.value.end), message, hint);
      return [];
    }
    const from = readSource(entry, entry.value, context);
    return from === null ? [] : { key: entry.key, source: from, span };
  });
}

function readSource(
  entry: TomlEntry,
  table: TomlTable,
  context: ReadContext,
): CredentialSource | null {
  const title = `[credentials.${entry.key}]`;
  const reader = new TableReader(table, title, context.source, context.problems);
  reader.checkKeys(SOURCES);
  const given = SOURCES.filter((key) => reader.get(key) !== undefined);
  if (given.length !== 1) {
    const count = given.length === 0 ? "has no source" : `has ${given.length} sources`;
    const span = context.source.span(entry.keyStart, entry.keyEnd);
    const hint = "give exactly one of `env`, `file` and `command`";
    context.problems.error("missing-key", span, `${title} ${count}`, hint);
    return null;
  }
  switch (given[0]) {
    case "env":
      return readVariable(reader);
    case "file":
      return readFile(reader, context);
    default:
      return readCommand(reader, context);
  }
}

function readVariable(reader: TableReader): CredentialSource | null {
  const node = reader.string("env");
  if (node === undefined) return null;
  if (VARIABLE_NAME.test(node.value)) return { kind: "env", name: node.value };
  const hint = 'name it without `$`, as in env = "OPENAI_API_KEY"';
  reader.error("bad-value", node, `"${node.value}" is no name for a variable`, hint);
  return null;
}

function readFile(reader: TableReader, context: ReadContext): CredentialSource | null {
  const node = reader.string("file");
  if (node === undefined) return null;
  const expanded = expandVariables(node, context, verbatim);
  if (expanded === null) return null;
  const isHome = node.value === "~" || node.value.startsWith("~/");
  const path = isHome ? (context.home ?? "") + expanded.slice(1) : expanded;
  if (path.startsWith("/") && !path.includes("\0")) return { kind: "file", path };
  const hint = "write the whole path, or `~/` for your own home directory";
  reader.error("bad-value", node, `"${node.value}" is no absolute path`, hint);
  return null;
}

/** No shell is involved, so the words stand apart. */
function readCommand(reader: TableReader, context: ReadContext): CredentialSource | null {
  const node = reader.get("command")?.value;
  if (node?.type !== "array" || node.elements.length === 0) {
    const hint = 'write the words apart, as in command = ["pass", "show", "openai"]';
    const message = "`command` must be a list of words that is not empty";
    if (node !== undefined) reader.error("wrong-type", node, message, hint);
    return null;
  }
  const argv: string[] = [];
  for (const word of reader.strings("command") ?? []) {
    const expanded = expandVariables(word, context, verbatim);
    if (expanded !== null) argv.push(expanded);
  }
  return argv.length === node.elements.length ? { kind: "command", argv } : null;
}
