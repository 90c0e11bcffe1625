import { expandVariables, verbatim } from "./expand-variables.ts";
import { parseGlob, quoteGlob } from "./glob-pattern.ts";
import { parseHostEntry } from "./host-name.ts";
import { checkLinearRegex, quoteRegex } from "./linear-regex.ts";
import type { Condition, MatchKey } from "./model.ts";
import { foldPath } from "./path-name.ts";
import type { ReadContext } from "./read-context.ts";
import { unreachable } from "./result.ts";
import { describeType, type TableReader } from "./table-reader.ts";
import type { TomlEntry, TomlNode } from "./toml-tree.ts";

const UID_MAX = 0xffff_fffe;

/** Reads one match key of a rule; null if anything about it is wrong (and reported). */
export function readCondition(
  reader: TableReader,
  entry: TomlEntry,
  match: { readonly key: MatchKey; readonly negated: boolean },
  context: ReadContext,
): Condition | null {
  const { key, negated } = match;
  const nodes = entry.value.type === "array" ? entry.value.elements : [entry.value];
  if (nodes.length === 0) {
    reader.error(
      "bad-value",
      entry.value,
      `\`${entry.key}\` is an empty list, which matches nothing`,
      "name at least one value, or leave the key out",
    );
    return null;
  }
  const values: (string | number)[] = [];
  for (const node of nodes) {
    const value =
      key === "uid" ? readUid(reader, entry, node) : readText(reader, entry, node, key, context);
    if (value !== null) values.push(value);
  }
  if (values.length !== nodes.length) return null;
  return { key, negated, values, span: reader.keySpan(entry) };
}

function readUid(reader: TableReader, entry: TomlEntry, node: TomlNode): number | null {
  if (node.type !== "integer") {
    reader.wrongType(entry.key, node, "an integer or a list of integers");
    return null;
  }
  if (node.value >= 0 && node.value <= UID_MAX) return node.value;
  reader.error("bad-value", node, `${node.value} is no user id`);
  return null;
}

function readText(
  reader: TableReader,
  entry: TomlEntry,
  node: TomlNode,
  key: Exclude<MatchKey, "uid">,
  context: ReadContext,
): string | null {
  if (node.type !== "string") {
    const message = `\`${entry.key}\` must be a string or a list of strings`;
    reader.error("wrong-type", node, `${message}, not ${describeType(node)}`);
    return null;
  }
  const text = expandVariables(node, context, QUOTES[key]);
  if (text === null) return null;
  const mistake = checkText(key, text);
  if (mistake === null) return text;
  reader.error(mistake.code, node, mistake.message, mistake.hint);
  return null;
}

/** What `${VAR}` brings in is text, whatever language surrounds it. */
const QUOTES: Record<Exclude<MatchKey, "uid">, (value: string) => string> = {
  exe: verbatim,
  exe_basename: verbatim,
  exe_glob: quoteGlob,
  argv_regex: quoteRegex,
  argv_contains: verbatim,
  argv_host_in: verbatim,
  argv_host_any: verbatim,
  cwd_glob: quoteGlob,
  parent_exe: quoteGlob,
  parent_argv: quoteRegex,
};

interface Mistake {
  readonly code: "bad-value" | "bad-glob" | "bad-regex" | "bad-host";
  readonly message: string;
  readonly hint: string | null;
}

/**
 * A value that no request can match is an error, not an odd rule: a deny that never applies is a
 * hole that looks like a wall.
 */
function checkText(key: Exclude<MatchKey, "uid">, text: string): Mistake | null {
  if (text === "") return badValue("an empty string", null);
  if (text.includes("\0")) return badValue("no argument or path contains a NUL character", null);
  switch (key) {
    case "exe":
      return checkPath(text);
    case "exe_basename":
      if (!text.includes("/")) return null;
      return badValue(`a basename has no \`/\`: "${text}"`, `write exe = "${text}"`);
    case "exe_glob":
    case "cwd_glob":
      return checkRootedGlob(key, text);
    case "parent_exe":
      return text.includes("/") ? checkRootedGlob(key, text) : checkGlob(text);
    case "argv_regex":
    case "parent_argv": {
      const wrong = checkLinearRegex(text);
      if (wrong === null) return null;
      const { message, hint } = wrong;
      return { code: "bad-regex", message: `bad regular expression: ${message}`, hint };
    }
    case "argv_contains":
      return null;
    case "argv_host_in":
    case "argv_host_any": {
      const host = parseHostEntry(text);
      if (host.ok) return null;
      const hint = 'write a name such as "example.com" or "*.example.com"';
      return { code: "bad-host", message: `bad host "${text}": ${host.error}`, hint };
    }
    default:
      return unreachable(key);
  }
}

function badValue(message: string, hint: string | null): Mistake {
  return { code: "bad-value", message, hint };
}

function checkPath(text: string): Mistake | null {
  if (text.startsWith("memfd:") || text.startsWith("/memfd:")) return null;
  if (!text.startsWith("/")) {
    const hint = text.includes("/")
      ? 'write the path from "/" on, or a glob such as exe_glob = "**/name"'
      : `write exe = "/usr/bin/${text}" or exe_basename = "${text}"`;
    return badValue(`\`exe\` must be an absolute path, not "${text}"`, hint);
  }
  const folded = foldPath(text);
  if (folded === text) return null;
  return badValue(`no program is ever called "${text}"`, `write exe = "${folded}"`);
}

function checkGlob(text: string): Mistake | null {
  const glob = parseGlob(text);
  if (glob.ok) return null;
  return { code: "bad-glob", message: `bad glob: ${glob.error}`, hint: GLOB_HINT };
}

const GLOB_HINT = "a backslash takes the next character literally, as in `\\[`";

function checkRootedGlob(key: MatchKey, text: string): Mistake | null {
  const mistake = checkGlob(text);
  if (mistake !== null) return mistake;
  const code = "bad-glob";
  if (/(?:^|\/)\.{1,2}(?:\/|$)|\/\//.test(text)) {
    const message = `no path matches "${text}": paths have no \`.\`, \`..\` or \`//\` in them`;
    return { code, message, hint: "write the path as the kernel shows it" };
  }
  if (text.length > 1 && text.endsWith("/")) {
    const message = `no path matches "${text}": paths do not end in \`/\``;
    return { code, message, hint: `write "${text}**" for everything below` };
  }
  if (/^(?:\/|\*\*(?:\/|$)|memfd:|\{\/)/.test(text)) return null;
  const hint = text.startsWith("~")
    ? `write "\${HOME}${text.slice(1)}"`
    : `write a path from "/" on, or "**/${text}" for any place`;
  return { code, message: `\`${key}\` must start with \`/\` or \`**/\`, not "${text}"`, hint };
}
