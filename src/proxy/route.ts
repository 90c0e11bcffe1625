import { addressOf } from "../policy/host-rule.ts";
import type { EndpointRule, Injection, RoutePolicy } from "../policy/model.ts";
import type { NetTarget } from "../policy/network-judge.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { normalizePath, pathMatches } from "../policy/route-path.ts";
import { endToEndFields, type HeaderField, type RequestHead } from "./http-head.ts";
import type { SessionToken } from "./session-token.ts";

/** What is asked of a route, before anything is known of where it leads. */
export interface RouteRequest {
  /** Normalized, without the token and without the query. */
  readonly path: string;
  /** With its `?`, or empty. */
  readonly query: string;
}

export type RouteMistake =
  | { readonly kind: "token" }
  | { readonly kind: "path"; readonly reason: string }
  | { readonly kind: "override"; readonly field: string }
  | { readonly kind: "endpoint"; readonly path: string };

/** Many frameworks take the method or the path from these instead of from the request line. */
const OVERRIDES =
  /^x-(?:(?:http-)?method-override|http-method|original-(?:method|url)|rewrite-url)$/i;
/** CGI knows no difference between the two marks. */
const isOverride = ([name]: HeaderField): boolean => OVERRIDES.test(name.replaceAll("_", "-"));

/** Shorter ones would be found in headers by chance. */
const SECRET_CHARACTERS_MIN = 8;

/** One `[network.routes.NAME]` with its secret: from what the agent sends to what goes upstream. */
export class Route {
  readonly name: string;
  readonly target: NetTarget;
  readonly isTls: boolean;
  readonly #basePath: string;
  readonly #rules: readonly EndpointRule[];
  readonly #inject: Injection | null;
  readonly #secret: string | null;
  readonly #token: SessionToken;
  /** The secret as it may be spelled in a URL or a header. */
  readonly #spellings: readonly string[];

  constructor(policy: RoutePolicy, secret: string | null, token: SessionToken) {
    const url = new URL(policy.upstream);
    this.name = policy.name;
    this.isTls = url.protocol === "https:";
    const port = url.port === "" ? (this.isTls ? 443 : 80) : Number(url.port);
    this.target = { host: url.hostname, port };
    this.#basePath = url.pathname.replace(/\/$/, "");
    this.#rules = policy.endpointRules;
    this.#inject = policy.inject;
    this.#secret = secret;
    this.#token = token;
    this.#spellings = spellingsOf(secret, policy.inject);
  }

  get serverName(): string {
    return addressOf(this.target.host) ?? this.target.host;
  }

  /** `rest` is what stands behind `/NAME`, with the query. */
  judge(head: RequestHead, rest: string): Result<RouteRequest, RouteMistake> {
    const mark = rest.indexOf("?");
    const rawPath = mark < 0 ? rest : rest.slice(0, mark);
    const query = mark < 0 ? "" : rest.slice(mark);
    const found = this.#takeToken(head, rawPath, query);
    if (found === null) return err({ kind: "token" });
    const path = normalizePath(found.path === "" ? "/" : found.path);
    if (!path.ok) return err({ kind: "path", reason: path.error });
    if (!this.#permits(head.method, path.value)) return err({ kind: "endpoint", path: path.value });
    const field = this.#rules.length > 0 ? head.fields.find(isOverride) : undefined;
    if (field !== undefined) return err({ kind: "override", field: field[0] });
    return ok({ path: path.value, query: found.query });
  }

  /** The head that goes upstream, with the secret in it and the token gone from it. */
  headFor(
    head: RequestHead,
    request: RouteRequest,
  ): { readonly line: string; readonly fields: readonly HeaderField[] } {
    const { host, port } = this.target;
    const isDefaultPort = port === (this.isTls ? 443 : 80);
    const hostField: HeaderField = ["Host", isDefaultPort ? host : `${host}:${port}`];
    const kept = endToEndFields(head.fields).filter(
      (field) => field[0].toLowerCase() !== "host" && !this.#token.isHeldBy(field),
    );
    const { target, fields } = this.#withSecret(request, kept);
    const line = `${head.method} ${this.#basePath}${target} HTTP/1.${head.minorVersion}`;
    return { line, fields: [hostField, ...fields] };
  }

  /**
   * The head of an answer without the secret: a redirection repeats the address it was asked for,
   * and with it a secret that was put into the path or the query.
   */
  hideSecret(text: string): string {
    return this.#spellings.reduce((left, each) => left.replaceAll(each, HIDDEN), text);
  }

  #permits(method: string, path: string): boolean {
    if (this.#rules.length === 0) return true;
    return this.#rules.some(
      (rule) => (rule.method === "*" || rule.method === method) && pathMatches(rule.path, path),
    );
  }

  /** Finds the token and cuts it out of path and query; null if it is nowhere. */
  #takeToken(
    head: RequestHead,
    path: string,
    query: string,
  ): { readonly path: string; readonly query: string } | null {
    if (this.#inject?.mode === "path") {
      const start = this.#inject.format.replace("{}", this.#token.text);
      const isThere = path === start || path.startsWith(`${start}/`);
      return isThere ? { path: path.slice(start.length), query } : null;
    }
    const params = query === "" ? [] : query.slice(1).split("&");
    const kept = params.filter((param) => !this.#token.equals(param.slice(param.indexOf("=") + 1)));
    const cut = kept.length === 0 ? "" : `?${kept.join("&")}`;
    const isInQuery = kept.length < params.length;
    if (!isInQuery && !head.fields.some((field) => this.#token.isHeldBy(field))) return null;
    return { path, query: isInQuery ? cut : query };
  }

  #withSecret(
    { path, query }: RouteRequest,
    fields: readonly HeaderField[],
  ): { readonly target: string; readonly fields: readonly HeaderField[] } {
    const inject = this.#inject;
    const secret = this.#secret;
    if (inject === null || secret === null) return { target: path + query, fields };
    switch (inject.mode) {
      case "header": {
        const value = inject.format.replace("{}", () => secret);
        return { target: path + query, fields: replaced(fields, inject.header, value) };
      }
      case "basic": {
        const pair = Buffer.from(inject.format.replace("{}", () => secret)).toString("base64");
        return { target: path + query, fields: replaced(fields, "Authorization", `Basic ${pair}`) };
      }
      case "query": {
        const params = query === "" ? [] : query.slice(1).split("&");
        const kept = params.filter((param) => nameOf(param) !== inject.param);
        const own = `${inject.param}=${encodeURIComponent(secret)}`;
        return { target: `${path}?${[...kept, own].join("&")}`, fields };
      }
      case "path": {
        const part = pathPart(secret);
        return { target: inject.format.replace("{}", () => part) + path + query, fields };
      }
      default:
        return inject satisfies never;
    }
  }
}

const HIDDEN = "hidden-by-faraday";

function spellingsOf(secret: string | null, inject: Injection | null): readonly string[] {
  if (secret === null || secret.length < SECRET_CHARACTERS_MIN) return [];
  const encoded = encodeURIComponent(secret);
  const pair = inject?.mode === "basic" ? inject.format.replace("{}", () => secret) : secret;
  const base64 = Buffer.from(pair).toString("base64");
  const escapedSmall = encoded.replace(/%../g, (code) => code.toLowerCase());
  return [...new Set([secret, encoded, escapedSmall, pathPart(secret), base64])];
}

/** A colon needs no escape in a path, and some services compare the raw text. */
function pathPart(secret: string): string {
  return encodeURIComponent(secret).replaceAll("%3A", ":");
}

function replaced(
  fields: readonly HeaderField[],
  name: string,
  value: string,
): readonly HeaderField[] {
  const others = fields.filter((field) => field[0].toLowerCase() !== name.toLowerCase());
  return [...others, [name, value]];
}

/** The name of a parameter as a server reads it; one that is broken has none of ours. */
function nameOf(param: string): string {
  const name = param.split("=")[0] ?? "";
  try {
    return decodeURIComponent(name.replaceAll("+", " "));
  } catch {
    return name;
  }
}
