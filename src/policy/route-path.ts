/**
 * The path of a request in the one spelling in which it is matched and forwarded. Whatever a server
 * behind the proxy might read in another way than we do is refused instead of guessed at.
 */
import { err, ok, type Result } from "./result.ts";

const PATH_CHARACTERS = /^[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*$/;
const UNRESERVED = /[A-Za-z0-9\-._~]/;
/** An encoded slash, backslash or NUL: some servers split there, some do not. */
const SPLITTING = /%(?:2F|5C|00)/;
/** Control characters: some servers end a path there, or take them away. */
const CONTROL = /%(?:[01][0-9A-F]|7F)/;
/** Decoded once it is an escape again, so a server that decodes twice would see another path. */
const TWICE_ENCODED = /%25[0-9A-F]{2}/i;
/** `..;x` is `..` to servers that cut parameters off a segment. */
const DOT_WITH_PARAMETER = /^\.{1,2};/;

/** Takes a path without its query; the error is a sentence. */
export function normalizePath(path: string): Result<string, string> {
  if (!path.startsWith("/")) return err("a path begins with a slash");
  if (!PATH_CHARACTERS.test(path)) return err("the path has a character that must be encoded");
  if (/%(?![0-9A-Fa-f]{2})/.test(path)) return err("the path has a broken percent escape");
  const decoded = path.replace(/%[0-9A-Fa-f]{2}/g, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return UNRESERVED.test(character) ? character : code.toUpperCase();
  });
  if (SPLITTING.test(decoded)) return err("the path has an encoded slash, backslash or NUL");
  if (CONTROL.test(decoded)) return err("the path has a control character");
  // Two bytes that spell a dot or a slash in a way that UTF-8 forbids and old decoders take.
  if (!isUtf8(decoded)) return err("the path is not UTF-8");
  if (TWICE_ENCODED.test(decoded)) return err("the path is encoded twice");
  const segments: string[] = [];
  for (const segment of decoded.split("/")) {
    if (DOT_WITH_PARAMETER.test(segment)) return err("the path has a dot segment with a parameter");
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined) return err("the path leads above its root");
  }
  const last = decoded.slice(decoded.lastIndexOf("/") + 1);
  const isDirectory = segments.length > 0 && (last === "" || last === "." || last === "..");
  return ok(`/${segments.join("/")}${isDirectory ? "/" : ""}`);
}

function isUtf8(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** A pattern of `endpoint_rules` in the same spelling; `*` and `**` are whole segments. */
export function normalizePathPattern(pattern: string): Result<string, string> {
  if (pattern.includes("?")) return err("a path pattern has no query");
  const normalized = normalizePath(pattern);
  if (!normalized.ok) return normalized;
  for (const segment of normalized.value.split("/")) {
    if (segment.includes("*") && segment !== "*" && segment !== "**") {
      return err("`*` and `**` stand only for whole segments, as in `/repos/*/issues`");
    }
  }
  return normalized;
}

/** Both are normalized. */
export function pathMatches(pattern: string, path: string): boolean {
  return segmentsMatch(pattern.slice(1).split("/"), path.slice(1).split("/"));
}

/**
 * `**` is any number of segments. Only the last `**` that was met is ever tried again, which is
 * enough for globs and keeps this from growing exponentially.
 */
function segmentsMatch(pattern: readonly string[], path: readonly string[]): boolean {
  let at = 0;
  let here = 0;
  let retryPattern = -1;
  let retryPath = 0;
  while (here < path.length) {
    const part = pattern[at];
    if (part === "**") {
      retryPattern = at;
      retryPath = here;
      at++;
    } else if (part !== undefined && (part === path[here] || (part === "*" && path[here] !== ""))) {
      at++;
      here++;
    } else if (retryPattern >= 0) {
      retryPath++;
      at = retryPattern + 1;
      here = retryPath;
    } else {
      return false;
    }
  }
  while (pattern[at] === "**") at++;
  return at === pattern.length;
}
