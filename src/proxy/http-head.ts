/**
 * HTTP/1 heads, read so strictly that nobody behind us can read them in another way: what is
 * ambiguous is refused, not repaired. node:http and Bun.serve repair, which is why neither is used.
 */
import { err, ok, type Result } from "../policy/result.ts";

/** Name as written, and value without the blanks around it. */
export type HeaderField = readonly [name: string, value: string];

export type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "until-close" };

export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly minorVersion: 0 | 1;
  readonly fields: readonly HeaderField[];
  readonly framing: Framing;
}

export interface ResponseHead {
  readonly status: number;
  readonly phrase: string;
  readonly minorVersion: 0 | 1;
  readonly fields: readonly HeaderField[];
  readonly framing: Framing;
}

export const HEAD_BYTES_MAX = 64 * 1024;
const FIELDS_MAX = 256;

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) ([\x21-\x7e]+) HTTP\/1\.([01])$/;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: ([\t\x20-\x7e\x80-\xff]*))?$/;
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;
/** Larger numbers are not exact, and nobody sends a petabyte. */
const LENGTH = /^[0-9]{1,15}$/;

const END = Buffer.from("\r\n\r\n");

/**
 * Where the head ends in these bytes: the offset behind it, `more` if it is not all there, or what
 * is wrong with it. `from` is how far earlier calls have looked.
 */
export function findHeadEnd(bytes: Buffer, from: number): Result<number | "more", string> {
  const at = bytes.indexOf(END, Math.max(0, from - 3));
  const end = at < 0 ? bytes.length : at + 4;
  if (end > HEAD_BYTES_MAX) return err("the head is too large");
  // A line that ends in LF alone is a line to some and a part of one to others.
  for (let lf = bytes.indexOf(10, from); lf >= 0 && lf < end; lf = bytes.indexOf(10, lf + 1)) {
    if (bytes[lf - 1] !== 13) return err("a line does not end in CR LF");
  }
  return ok(at < 0 ? "more" : end);
}

/** Takes a whole head, its empty line included, one character a byte; the error is a sentence. */
export function parseRequestHead(text: string): Result<RequestHead, string> {
  const lines = text.slice(0, -4).split("\r\n");
  const line = REQUEST_LINE.exec(lines[0] ?? "");
  if (line === null) return err("the request line is malformed");
  const [, method = "", target = "", minor = ""] = line;
  const fields = parseFields(lines);
  if (!fields.ok) return fields;
  const minorVersion = minor === "1" ? 1 : 0;
  const hosts = valuesOf(fields.value, "host").length;
  if (hosts > 1) return err("there is more than one Host");
  if (hosts === 0 && minorVersion === 1) return err("there is no Host");
  const framing = readFraming(fields.value, minorVersion);
  if (!framing.ok) return framing;
  const body = framing.value ?? { kind: "none" };
  return ok({ method, target, minorVersion, fields: fields.value, framing: body });
}

/** `method` is that of the request: an answer to HEAD has no body, whatever it says. */
export function parseResponseHead(text: string, method: string): Result<ResponseHead, string> {
  const lines = text.slice(0, -4).split("\r\n");
  const line = STATUS_LINE.exec(lines[0] ?? "");
  if (line === null) return err("the status line is malformed");
  const [, minor = "", code = "", phrase = ""] = line;
  const fields = parseFields(lines);
  if (!fields.ok) return fields;
  const status = Number(code);
  const minorVersion = minor === "1" ? 1 : 0;
  const framing = readFraming(fields.value, minorVersion);
  if (!framing.ok) return framing;
  const isEmpty = method === "HEAD" || status < 200 || status === 204 || status === 304;
  const body: Framing = isEmpty ? { kind: "none" } : (framing.value ?? { kind: "until-close" });
  return ok({ status, phrase, minorVersion, fields: fields.value, framing: body });
}

function parseFields(lines: readonly string[]): Result<HeaderField[], string> {
  if (lines.length - 1 > FIELDS_MAX) return err("there are too many headers");
  const fields: HeaderField[] = [];
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] ?? "";
    const field = FIELD.exec(line);
    if (field === null) {
      const isFolded = line.startsWith(" ") || line.startsWith("\t");
      return err(isFolded ? "a header is folded over two lines" : "a header is malformed");
    }
    fields.push([field[1] ?? "", (field[2] ?? "").replace(/[ \t]+$/, "")]);
  }
  return ok(fields);
}

/** Null: the head says nothing of a body. */
function readFraming(
  fields: readonly HeaderField[],
  minorVersion: 0 | 1,
): Result<Framing | null, string> {
  const lengths = valuesOf(fields, "content-length");
  const codings = valuesOf(fields, "transfer-encoding");
  if (codings.length > 0) {
    if (lengths.length > 0) return err("both Content-Length and Transfer-Encoding are there");
    if (codings.length > 1) return err("there is more than one Transfer-Encoding");
    if (codings[0]?.toLowerCase() !== "chunked") return err("a Transfer-Encoding is not chunked");
    if (minorVersion === 0) return err("HTTP/1.0 has no Transfer-Encoding");
    return ok({ kind: "chunked" });
  }
  if (lengths.length > 1) return err("there is more than one Content-Length");
  const [length] = lengths;
  if (length === undefined) return ok(null);
  if (!LENGTH.test(length)) return err("the Content-Length is no number");
  const bytes = Number(length);
  return ok(bytes === 0 ? { kind: "none" } : { kind: "length", bytes });
}

export function valuesOf(fields: readonly HeaderField[], name: string): readonly string[] {
  const values: string[] = [];
  for (const [own, value] of fields) {
    // Most differ in length already, and then nothing has to be lowered.
    if (own.length === name.length && own.toLowerCase() === name) values.push(value);
  }
  return values;
}

/** The elements of a list header, in lower case. */
export function tokensOf(fields: readonly HeaderField[], name: string): readonly string[] {
  const values = valuesOf(fields, name);
  if (values.length === 0) return values;
  return values
    .flatMap((value) => value.split(","))
    .map((each) => each.trim().toLowerCase())
    .filter((each) => each !== "");
}

/** Whether the client would send another request over the same connection. */
export function wantsMore({ minorVersion, fields }: RequestHead): boolean {
  if (minorVersion === 0 || tokensOf(fields, "connection").includes("close")) return false;
  return !tokensOf(fields, "proxy-connection").includes("close");
}

/** Those that concern one connection only. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "proxy-connection",
  "keep-alive",
  "proxy-authorization",
  "proxy-authenticate",
  "proxy-authentication-info",
  "te",
  "upgrade",
]);
/** Naming these in Connection would take away what frames or routes the message. */
const NEVER_HOP_BY_HOP: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "authorization",
  "cookie",
  "expect",
]);

/** The fields that are handed on: all but what concerns the one connection they came over. */
export function endToEndFields(fields: readonly HeaderField[]): readonly HeaderField[] {
  const named = tokensOf(fields, "connection").filter((name) => !NEVER_HOP_BY_HOP.has(name));
  return fields.filter(([name]) => {
    const lower = name.toLowerCase();
    return !HOP_BY_HOP.has(lower) && !named.includes(lower);
  });
}

export function renderHead(first: string, fields: readonly HeaderField[]): Buffer {
  let text = `${first}\r\n`;
  for (const [name, value] of fields) text += `${name}: ${value}\r\n`;
  return Buffer.from(`${text}\r\n`, "latin1");
}
