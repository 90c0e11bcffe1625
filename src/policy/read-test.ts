import { expandVariables, verbatim } from "./expand-variables.ts";
import type { PolicyTest } from "./model.ts";
import { foldPath } from "./path-name.ts";
import type { ReadContext } from "./read-context.ts";
import { TableReader } from "./table-reader.ts";
import type { TomlTable } from "./toml-tree.ts";

const KEYS = ["argv", "exe", "cwd", "uid", "parent", "expect", "rule"];

/** Reads a `[[test]]`; null if anything in it is wrong (and reported). */
export function readTest(table: TomlTable, context: ReadContext): PolicyTest | null {
  const { source, problems } = context;
  const reader = new TableReader(table, "[[test]]", source, problems);
  const errorsBefore = problems.errors.length;
  reader.checkKeys(KEYS);
  const argv = readArguments(reader, "argv", context);
  if (reader.get("argv") === undefined) reader.missing("argv", 'add argv = ["program", "…"]');
  const expectEntry = reader.get("expect");
  if (expectEntry === undefined) {
    reader.missing("expect", 'add expect = "allow" or expect = "deny"');
  }
  const expect = reader.oneOf("expect", ["allow", "deny"]);
  const cwd = readPath(reader, "cwd", context);
  const exe = readPath(reader, "exe", context);
  const uid = reader.integer("uid", { min: 0, max: 0xffff_fffe }) ?? null;
  const parent = readParent(reader, context);
  const rule = reader.string("rule")?.value ?? null;
  if (argv === null || expect === undefined || expectEntry === undefined) return null;
  if (problems.errors.length > errorsBefore) return null;
  return {
    argv,
    exe,
    cwd,
    uid,
    parentExe: parent?.exe ?? null,
    parentArgv: parent?.argv ?? null,
    expect,
    rule,
    span: reader.spanOf(expectEntry.value),
  };
}

/** A list of strings with at least one; a lone string would hide whether it is split. */
function readArguments(
  reader: TableReader,
  key: string,
  context: ReadContext,
): readonly string[] | null {
  const node = reader.get(key)?.value;
  if (node === undefined) return null;
  if (node.type !== "array") {
    reader.wrongType(key, node, "a list of strings");
    return null;
  }
  if (node.elements.length === 0) {
    reader.error("bad-value", node, `\`${key}\` must hold at least the program's name`);
    return null;
  }
  const texts: string[] = [];
  for (const string of reader.strings(key) ?? []) {
    const text = expandVariables(string, context, verbatim);
    if (text !== null) texts.push(text);
  }
  if (texts.length !== node.elements.length) return null;
  if (texts[0] !== "") return texts;
  reader.error("bad-value", node, `\`${key}\` must start with the program's name`);
  return null;
}

function readPath(reader: TableReader, key: string, context: ReadContext): string | null {
  const node = reader.string(key);
  if (node === undefined) return null;
  const path = expandVariables(node, context, verbatim);
  if (path === null) return null;
  if (path.startsWith("/")) return foldPath(path);
  reader.error("bad-value", node, `\`${key}\` must be an absolute path, not "${path}"`);
  return null;
}

/** A string is the parent's program; a list is its argument list. */
function readParent(
  reader: TableReader,
  context: ReadContext,
): { exe: string; argv: readonly string[] } | null {
  const node = reader.get("parent")?.value;
  if (node === undefined) return null;
  if (node.type === "string") {
    const text = expandVariables(node, context, verbatim);
    return text === null || text === "" ? null : { exe: findProgram(text, "/"), argv: [text] };
  }
  if (node.type !== "array") {
    reader.wrongType("parent", node, "a path or a list of arguments");
    return null;
  }
  const argv = readArguments(reader, "parent", context);
  return argv === null ? null : { exe: findProgram(argv[0] ?? "", "/"), argv };
}

/** Where an example's program lies: as a shell would find it, with /usr/bin for the whole PATH. */
export function findProgram(name: string, cwd: string): string {
  if (name.startsWith("/")) return foldPath(name);
  return name.includes("/") ? foldPath(`${cwd}/${name}`) : `/usr/bin/${name}`;
}
