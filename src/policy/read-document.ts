import { closestName } from "./closest-name.ts";
import type { Span } from "./diagnostic.ts";
import type { Action, CredentialPolicy, PolicyTest, Rule } from "./model.ts";
import type { ReadContext } from "./read-context.ts";
import { readCredentials } from "./read-credentials.ts";
import { type FilesystemSettings, readFilesystem } from "./read-filesystem.ts";
import { type NetworkSettings, readNetwork } from "./read-network.ts";
import { readRule } from "./read-rule.ts";
import { readTest } from "./read-test.ts";
import { describeType, TableReader } from "./table-reader.ts";
import { parseToml, type TomlEntry, type TomlTable } from "./toml-tree.ts";

/** One policy file as written, before its bases are joined to it. Undefined: not set here. */
export interface PolicyDocument {
  readonly name: string;
  readonly bases: readonly { readonly reference: string; readonly span: Span }[];
  readonly defaultAction: Action | undefined;
  readonly onPolicyError: Action | undefined;
  readonly onSupervisorTimeoutMs: number | undefined;
  readonly auditOnError: "stop" | "continue" | undefined;
  readonly filesystem: FilesystemSettings | null;
  readonly network: NetworkSettings | null;
  readonly credentials: readonly CredentialPolicy[];
  readonly rules: readonly Rule[];
  readonly tests: readonly PolicyTest[];
}

const TABLES = ["meta", "rule", "filesystem", "network", "credentials", "audit", "test"];
const META_KEYS = [
  "version",
  "default_action",
  "on_policy_error",
  "on_supervisor_timeout_ms",
  "extends",
];
const TIMEOUT_MS_MAX = 600_000;

/** Reads one file; null after a syntax error, else what could be read, with every mistake told. */
export function readDocument(context: ReadContext): PolicyDocument | null {
  const { source, problems } = context;
  const toml = parseToml(source);
  if (!toml.ok) {
    problems.errors.push(toml.error);
    return null;
  }
  const root = new TableReader(toml.value, "a policy", source, problems);
  checkTopLevel(root);
  const meta = readTable(root, "meta");
  if (meta !== null) checkMeta(meta);
  const audit = readTable(root, "audit");
  audit?.checkKeys(["on_error"]);
  const filesystem = readTable(root, "filesystem");
  const network = readTable(root, "network");
  const credentials = readTable(root, "credentials");
  const tests = context.skipTests ? [] : readTables(root, "test");
  const document: PolicyDocument = {
    name: source.name,
    bases: [...readExtends(root), ...(meta === null ? [] : readExtends(meta))],
    defaultAction: meta?.oneOf("default_action", ["allow", "deny"]),
    onPolicyError: meta?.oneOf("on_policy_error", ["allow", "deny"]),
    onSupervisorTimeoutMs: meta?.integer("on_supervisor_timeout_ms", {
      min: 1,
      max: TIMEOUT_MS_MAX,
    }),
    auditOnError: audit?.oneOf("on_error", ["stop", "continue"]),
    filesystem: filesystem === null ? null : readFilesystem(filesystem.table, context),
    network: network === null ? null : readNetwork(network.table, context),
    credentials: credentials === null ? [] : readCredentials(credentials.table, context),
    rules: readTables(root, "rule").flatMap((table) => readRule(table, context) ?? []),
    tests: tests.flatMap((table) => readTest(table, context) ?? []),
  };
  checkIds(root);
  checkNotEmpty(root, meta);
  return document;
}

/** A file that says nothing is taken for a mistake: a truncated file must not be a policy. */
function checkNotEmpty(root: TableReader, meta: TableReader | null): void {
  const says = ["rule", "filesystem", "network", "extends"].some(
    (key) => root.get(key) !== undefined,
  );
  const metaSays = meta?.get("default_action") ?? meta?.get("extends");
  if (says || metaSays !== undefined) return;
  if (root.problems.errors.some(({ span }) => span?.file === root.source.name)) return;
  root.problems.error(
    "empty-policy",
    root.source.firstLine(),
    "the policy says nothing: it has no rule, no default_action, no table of a layer, no extends",
    'write at least [meta] default_action = "deny", or leave out --policy for the default',
  );
}

function checkTopLevel(root: TableReader): void {
  for (const entry of root.table.entries.values()) {
    if (entry.key === "extends" || TABLES.includes(entry.key)) continue;
    if (isTable(entry)) {
      const message = `a policy has no table [${entry.key}]`;
      root.problems.error("unknown-table", root.keySpan(entry), message, tableHint(entry.key));
    } else {
      const message = `\`${entry.key}\` stands outside of any table`;
      root.problems.error("unknown-key", root.keySpan(entry), message, keyHint(entry.key));
    }
  }
}

function isTable({ value }: TomlEntry): boolean {
  if (value.type === "table") return true;
  return value.type === "array" && value.elements.some(({ type }) => type === "table");
}

function tableHint(name: string): string | null {
  const near = closestName(name, TABLES);
  if (near === null) return `the tables are ${TABLES.map(bracketed).join(", ")}`;
  return `did you mean ${bracketed(near)}?`;
}

function bracketed(table: string): string {
  return table === "rule" || table === "test" ? `[[${table}]]` : `[${table}]`;
}

function keyHint(key: string): string | null {
  if (META_KEYS.includes(key)) return `put \`${key}\` below [meta]`;
  const near = closestName(key, ["extends", ...META_KEYS]);
  return near === null ? "put it below the table that it belongs to" : `did you mean \`${near}\`?`;
}

function readTable(root: TableReader, key: string): TableReader | null {
  const node = root.get(key)?.value;
  if (node === undefined) return null;
  if (node.type === "table") return new TableReader(node, `[${key}]`, root.source, root.problems);
  const hint = `write [${key}] once, on a line of its own`;
  root.error("wrong-type", node, `\`${key}\` must be a table, not ${describeType(node)}`, hint);
  return null;
}

/** An array of tables, as `[[rule]]` headers make it. */
function readTables(root: TableReader, key: string): TomlTable[] {
  const node = root.get(key)?.value;
  if (node === undefined) return [];
  const hint = `write [[${key}]] on a line of its own`;
  const nodes = node.type === "array" ? node.elements : [node];
  return nodes.flatMap((each) => {
    if (node.type === "array" && each.type === "table") return each;
    const what = node.type === "array" ? "must hold tables" : "must be a list of tables";
    root.error("wrong-type", each, `\`${key}\` ${what}, not ${describeType(each)}`, hint);
    return [];
  });
}

function checkMeta(meta: TableReader): void {
  meta.checkKeys(META_KEYS);
  const version = meta.get("version")?.value;
  if (version === undefined) return;
  if (version.type !== "integer") meta.wrongType("version", version, "an integer");
  else if (version.value !== 1) {
    const message = `this is version ${version.value} of the policy format`;
    const hint = "this Faraday reads version 1; write version = 1";
    meta.error("unsupported-version", version, message, hint);
  }
}

function readExtends(reader: TableReader): { reference: string; span: Span }[] {
  return (reader.strings("extends") ?? []).flatMap((node) => {
    if (node.value !== "") return { reference: node.value, span: reader.spanOf(node) };
    reader.error("bad-value", node, "an empty string names no policy");
    return [];
  });
}

/** Looks at the ids as written, so that a rule with another mistake is compared as well. */
function checkIds(root: TableReader): void {
  const lines = new Map<string, number>();
  const rules = root.get("rule")?.value;
  if (rules?.type !== "array") return;
  for (const rule of rules.elements) {
    const id = rule.type === "table" ? rule.entries.get("id")?.value : undefined;
    if (id?.type !== "string") continue;
    const first = lines.get(id.value);
    if (first === undefined) lines.set(id.value, root.spanOf(id).line);
    else {
      const message = `the id "${id.value}" is used twice`;
      root.error("duplicate-id", id, message, `the first is on line ${first}`);
    }
  }
}
