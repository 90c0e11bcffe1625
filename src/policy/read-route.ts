import { closestName } from "./closest-name.ts";
import { canonicalHost } from "./host-name.ts";
import type { EndpointRule, Injection, RoutePolicy } from "./model.ts";
import type { ReadContext } from "./read-context.ts";
import { err, ok, type Result } from "./result.ts";
import { normalizePath, normalizePathPattern } from "./route-path.ts";
import { describeType, TableReader } from "./table-reader.ts";
import type { TomlEntry, TomlNode, TomlString, TomlTable } from "./toml-tree.ts";

const KEYS = [
  "upstream",
  "credential_key",
  "inject_mode",
  "inject_header",
  "inject_format",
  "inject_param",
  "endpoint_rules",
  "env",
];

const ROUTE_NAME = /^[A-Za-z0-9_-]+$/;
const CREDENTIAL_KEY = /^[A-Za-z0-9_-]+$/;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const METHOD = /^(?:\*|[A-Z][A-Z-]*)$/;
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Headers that frame or route the request; a secret in one of them would break it. */
const FRAMING_HEADERS = ["host", "content-length", "transfer-encoding", "connection", "upgrade"];

/** Reads a `[network.routes.NAME]`; null if anything in it is wrong (and reported). */
export function readRoute(
  entry: TomlEntry,
  table: TomlTable,
  context: ReadContext,
): RoutePolicy | null {
  const { source, problems } = context;
  const title = `[network.routes.${entry.key}]`;
  const reader = new TableReader(table, title, source, problems);
  const errorsBefore = problems.errors.length;
  reader.checkKeys(KEYS);
  const span = source.span(entry.keyStart, entry.keyEnd);
  if (!ROUTE_NAME.test(entry.key)) {
    const hint = "it is a part of a URL: use letters, digits, `_` and `-`";
    problems.error("bad-value", span, `"${entry.key}" is no name for a route`, hint);
  }
  const upstream = readUpstream(reader);
  const key = readCredentialKey(reader);
  const inject = readInjection(reader, { hasCredential: key !== null });
  const endpointRules = readEndpoints(reader);
  const env = readEnv(reader);
  if (upstream === null || problems.errors.length > errorsBefore) return null;
  return { name: entry.key, upstream, credentialKey: key, inject, endpointRules, env, span };
}

function readUpstream(reader: TableReader): string | null {
  if (reader.get("upstream") === undefined) {
    reader.missing("upstream", 'add upstream = "https://host"');
    return null;
  }
  const node = reader.string("upstream");
  if (node === undefined) return null;
  const upstream = parseUpstream(node.value);
  if (upstream.ok) return upstream.value;
  const hint = 'write it as "https://host", perhaps with a port and a path';
  reader.error("bad-value", node, `"${node.value}" is no upstream: ${upstream.error}`, hint);
  return null;
}

function parseUpstream(text: string): Result<string, string> {
  const parts = /^(https?):\/\/([^/?#@\s]+)(\/[^?#\s]*)?$/.exec(text);
  if (parts === null) return err("it has another form than scheme, host, port and path");
  const [, scheme = "", authority = "", path = ""] = parts;
  const host = canonicalHost(authority);
  if (host === null || !URL.canParse(`${scheme}://${authority}/`)) return err("it has no host");
  const { port } = new URL(`${scheme}://${authority}/`);
  const normalized = normalizePath(path === "" ? "/" : path);
  if (!normalized.ok) return normalized;
  const base = normalized.value.replace(/\/$/, "");
  return ok(`${scheme}://${host}${port === "" ? "" : `:${port}`}${base}`);
}

function readCredentialKey(reader: TableReader): string | null {
  const node = reader.string("credential_key");
  if (node === undefined) return null;
  if (CREDENTIAL_KEY.test(node.value)) return node.value;
  const hint = "use letters, digits, `_` and `-`";
  reader.error("bad-value", node, `"${node.value}" is no name for a credential`, hint);
  return null;
}

/** Which keys each mode has besides `inject_mode`. */
const MODE_KEYS = {
  header: ["inject_header", "inject_format"],
  query: ["inject_param"],
  path: ["inject_format"],
  basic: ["inject_format"],
} as const satisfies Record<Injection["mode"], readonly string[]>;

function readInjection(
  reader: TableReader,
  options: { readonly hasCredential: boolean },
): Injection | null {
  const mode = reader.oneOf("inject_mode", ["header", "query", "path", "basic"]) ?? "header";
  const own: readonly string[] = options.hasCredential ? ["inject_mode", ...MODE_KEYS[mode]] : [];
  for (const entry of reader.table.entries.values()) {
    if (!entry.key.startsWith("inject_") || own.includes(entry.key)) continue;
    if (!KEYS.includes(entry.key)) continue;
    const message = options.hasCredential
      ? `\`${entry.key}\` means nothing with inject_mode = "${mode}"`
      : `\`${entry.key}\` means nothing without a credential_key`;
    const hint = options.hasCredential ? `${mode} has ${MODE_KEYS[mode].join(" and ")}` : null;
    reader.problems.error("bad-value", reader.keySpan(entry), message, hint);
  }
  if (!options.hasCredential) return null;
  switch (mode) {
    case "header":
      return readHeaderInjection(reader);
    case "query":
      return readQueryInjection(reader);
    case "path": {
      const format = readFormat(reader, null, /^(?:\/[A-Za-z0-9\-._~]*)*\{\}$/);
      return format === null ? null : { mode, format };
    }
    case "basic": {
      const format = readFormat(reader, "{}", /^(?:[^:{}]*:)?\{\}$|^\{\}:[^{}]*$/);
      return format === null ? null : { mode, format };
    }
    default:
      return mode satisfies never;
  }
}

function readHeaderInjection(reader: TableReader): Injection | null {
  const node = reader.string("inject_header");
  const header = node?.value ?? "Authorization";
  if (node !== undefined && !isHeader(header)) {
    const message = `"${header}" is no header that a credential can be put into`;
    reader.error("bad-value", node, message, 'name one such as "x-api-key"');
    return null;
  }
  const fallback = header.toLowerCase() === "authorization" ? "Bearer {}" : "{}";
  const format = readFormat(reader, fallback, /^[\x20-\x7e]*$/);
  return format === null ? null : { mode: "header", header, format };
}

function isHeader(name: string): boolean {
  return TOKEN.test(name) && !FRAMING_HEADERS.includes(name.toLowerCase());
}

function readQueryInjection(reader: TableReader): Injection | null {
  const node = reader.string("inject_param");
  if (reader.get("inject_param") === undefined) {
    reader.missing("inject_param", 'name the parameter, as in inject_param = "key"');
    return null;
  }
  if (node === undefined) return null;
  if (/^[A-Za-z0-9\-._~]+$/.test(node.value)) return { mode: "query", param: node.value };
  const hint = "use letters, digits, `-`, `.`, `_` and `~`";
  reader.error("bad-value", node, `"${node.value}" is no name for a parameter`, hint);
  return null;
}

const FORMAT_HINTS: Readonly<Record<string, string>> = {
  header: 'as in inject_format = "Bearer {}"',
  path: 'what the path begins with, as in inject_format = "/bot{}"',
  basic: 'user and password, as in inject_format = "user:{}"',
};

function readFormat(reader: TableReader, fallback: string | null, form: RegExp): string | null {
  const node = reader.string("inject_format");
  const mode = reader.string("inject_mode")?.value ?? "header";
  const hint = `\`{}\` stands once for the secret, ${FORMAT_HINTS[mode]}`;
  if (node === undefined) {
    if (fallback === null && reader.get("inject_format") === undefined) {
      reader.missing("inject_format", hint);
    }
    return fallback;
  }
  if (node.value.split("{}").length === 2 && form.test(node.value)) return node.value;
  reader.error("bad-value", node, `"${node.value}" is no format for a credential`, hint);
  return null;
}

function readEndpoints(reader: TableReader): EndpointRule[] {
  return (reader.list("endpoint_rules") ?? []).flatMap((node) => {
    if (node.type === "table") return readEndpoint(node, reader) ?? [];
    const message = `\`endpoint_rules\` must be made of tables, not ${describeType(node)}`;
    const hint = 'write { method = "GET", path = "/v1/models" }';
    reader.error("wrong-type", node, message, hint);
    return [];
  });
}

function readEndpoint(table: TomlTable, route: TableReader): EndpointRule | null {
  const reader = new TableReader(table, "an endpoint rule", route.source, route.problems);
  reader.checkKeys(["method", "path"]);
  for (const key of ["method", "path"]) {
    if (reader.get(key) === undefined) reader.missing(key, "`*` is any method, `/**` any path");
  }
  const method = reader.string("method");
  const path = reader.string("path");
  if (method === undefined || path === undefined) return null;
  const rule = parseEndpoint(method.value, path.value);
  if (rule.ok) return { ...rule.value, span: reader.spanOf(path) };
  const { part, message, hint } = rule.error;
  reader.error("bad-value", part === "method" ? method : path, message, hint);
  return null;
}

export interface EndpointMistake {
  readonly part: "method" | "path";
  readonly message: string;
  readonly hint: string | null;
}

const METHODS = ["get", "head", "post", "put", "patch", "delete", "options", "*"];

/** Shared with the command line, where an endpoint is one word. */
export function parseEndpoint(
  method: string,
  path: string,
): Result<{ readonly method: string; readonly path: string }, EndpointMistake> {
  if (!METHOD.test(method)) {
    const near = closestName(method, METHODS);
    const hint = near === null ? "`*` is any method" : `did you mean "${near.toUpperCase()}"?`;
    return err({ part: "method", message: `"${method}" is no method`, hint });
  }
  const pattern = normalizePathPattern(path);
  if (pattern.ok) return ok({ method, path: pattern.value });
  const message = `"${path}" is no path pattern: ${pattern.error}`;
  return err({ part: "path", message, hint: "`*` is one segment, `**` any number of them" });
}

function readEnv(reader: TableReader): { name: string; value: string }[] {
  const node = reader.get("env")?.value;
  if (node === undefined) return [];
  if (node.type !== "table") {
    const message = `\`env\` must be a table, not ${describeType(node)}`;
    const hint = 'write env = { OPENAI_BASE_URL = "{url}", OPENAI_API_KEY = "{token}" }';
    reader.error("wrong-type", node, message, hint);
    return [];
  }
  return [...node.entries.values()].flatMap(({ key, keyStart, keyEnd, value }) => {
    if (!VARIABLE_NAME.test(key)) {
      const span = reader.source.span(keyStart, keyEnd);
      reader.problems.error("bad-value", span, `"${key}" is no name for a variable`);
      return [];
    }
    if (isPlainString(value)) return { name: key, value: value.value };
    reader.error("wrong-type", value, `\`${key}\` must be a string without NUL characters`);
    return [];
  });
}

function isPlainString(node: TomlNode): node is TomlString {
  return node.type === "string" && !node.value.includes("\0");
}
