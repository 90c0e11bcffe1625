import type { NetTarget } from "../policy/network-judge.ts";
import { endToEndFields, type HeaderField, type RequestHead, valuesOf } from "./http-head.ts";
import type { NetSubject } from "./net-log.ts";
import type { Answer } from "./refusal-page.ts";
import { readTarget } from "./request-target.ts";
import type { Route } from "./route.ts";
import type { SessionToken } from "./session-token.ts";

/** A refusal before it is recorded; without a rule it is an error, not a verdict. */
export interface Refusal extends Pick<Answer, "status" | "reason" | "fields"> {
  readonly subject: NetSubject;
  readonly ruleId: string | null;
  readonly permit?: string | null;
  readonly ip?: string | null;
  /** The connection can serve another request. */
  readonly keep?: boolean;
}

/** A request that may go on its way if its target is allowed. */
export interface Passage {
  readonly subject: NetSubject;
  readonly target: NetTarget;
  readonly tls: { readonly serverName: string } | null;
  /** The policy itself names the target, as the upstream of a route. */
  readonly listed: boolean;
  readonly request: RequestHead;
  readonly line: string;
  readonly fields: readonly HeaderField[];
  /** Takes out of a line of the answer's head what the client must not see. */
  readonly hide: (text: string) => string;
}

export type RequestPlan =
  | { readonly kind: "refuse"; readonly refusal: Refusal }
  | { readonly kind: "tunnel"; readonly target: NetTarget; readonly subject: NetSubject }
  | { readonly kind: "pass"; readonly passage: Passage };

export interface PlanContext {
  readonly token: SessionToken;
  readonly routes: ReadonlyMap<string, Route>;
  readonly ownPort: number;
}

const HTTP_PORT = 80;
const NOBODY: NetSubject = { method: "", host: "", port: 0, path: null, route: null };

const refuse = (refusal: Refusal): RequestPlan => ({ kind: "refuse", refusal });

export function badRequest(reason: string): Refusal {
  return { subject: NOBODY, ruleId: "builtin:bad-request", status: 400, reason };
}

/** What a request asks for, and whether whoever asks may ask at all; where it leads comes later. */
export function planRequest(request: RequestHead, context: PlanContext): RequestPlan {
  const { method } = request;
  const read = readTarget(method, request.target, context.ownPort);
  if (!read.ok) return refuse(badRequest(read.error));
  const wanted = read.value;
  if (wanted.kind === "route") return planRoute(request, wanted.path, context);
  const { target } = wanted;
  const path = wanted.kind === "tunnel" ? null : loggable(wanted.path, context);
  const subject: NetSubject = { method, ...target, path, route: null };
  if (!hasProxyToken(request, context)) {
    return refuse({
      subject,
      ruleId: "builtin:token",
      status: 407,
      reason: "the proxy's session token is missing",
      fields: [["Proxy-Authenticate", 'Basic realm="faraday"']],
      keep: request.framing.kind === "none",
    });
  }
  if (wanted.kind === "tunnel") {
    if (request.framing.kind !== "none") return refuse(badRequest("a CONNECT has no body"));
    return { kind: "tunnel", target, subject };
  }
  if (isTrace(method)) return refuse(trace(subject));
  const hostField: HeaderField = ["Host", hostText(target, HTTP_PORT)];
  const others = endToEndFields(request.fields).filter(([name]) => name.toLowerCase() !== "host");
  const line = `${method} ${wanted.path} HTTP/1.${request.minorVersion}`;
  const fields = [hostField, ...others];
  const hide = (text: string): string => text;
  const passage = { subject, target, tls: null, listed: false, request, line, fields, hide };
  return { kind: "pass", passage };
}

const hostText = ({ host, port }: NetTarget, usualPort: number): string =>
  port === usualPort ? host : `${host}:${port}`;

/** A query may hold anything, so it is never logged. */
function loggable(path: string, { token }: PlanContext): string {
  return token.redact(path.split("?")[0] ?? "");
}

function hasProxyToken({ fields }: RequestHead, { token }: PlanContext): boolean {
  return valuesOf(fields, "proxy-authorization").some((value) => token.isIn(value));
}

/** TRACK is Microsoft's name for it, and some servers do not mind how a method is written. */
const isTrace = (method: string): boolean => /^trac[ek]$/i.test(method);

/** The answer to TRACE repeats the request, and with it what was put into it. */
function trace(subject: NetSubject): Refusal {
  return { subject, ruleId: "builtin:trace", status: 405, reason: "TRACE is not passed on" };
}

function planRoute(request: RequestHead, path: string, context: PlanContext): RequestPlan {
  const { method } = request;
  const [, name = "", rest = ""] = /^\/([A-Za-z0-9_-]+)([/?].*)?$/.exec(path) ?? [];
  const route = context.routes.get(name);
  if (route === undefined) {
    const subject = { ...NOBODY, method, path: loggable(path, context) };
    const reason = "there is no such route; the proxy itself is asked with a whole URL";
    return refuse({ subject, ruleId: "builtin:no-route", status: 404, reason });
  }
  const judged = route.judge(request, rest);
  const told = judged.ok ? judged.value.path : loggable(rest, context);
  const subject: NetSubject = { method, ...route.target, path: told, route: name };
  if (!judged.ok) {
    const { error } = judged;
    switch (error.kind) {
      case "token": {
        const reason = "the session token is missing: send it as the key of the service";
        return refuse({ subject, ruleId: "builtin:token", status: 401, reason });
      }
      case "path":
        return refuse({ subject, ruleId: "builtin:bad-path", status: 400, reason: error.reason });
      case "override":
        return refuse({
          subject,
          ruleId: `endpoint_rules:${name}`,
          status: 403,
          reason: `${error.field} asks for another request than the one that endpoint_rules judge`,
          keep: request.framing.kind === "none",
        });
      case "endpoint":
        return refuse({
          subject,
          ruleId: `endpoint_rules:${name}`,
          status: 403,
          reason: `${method} ${error.path} is not among the endpoint_rules of ${name}`,
          permit: `endpoint_rules = [{ method = "${method}", path = "${error.path}" }]`,
          keep: request.framing.kind === "none",
        });
      default:
        return error satisfies never;
    }
  }
  if (isTrace(method)) return refuse(trace(subject));
  const { line, fields } = route.headFor(request, judged.value);
  const tls = route.isTls ? { serverName: route.serverName } : null;
  const hide = (text: string): string => route.hideSecret(text);
  const { target } = route;
  const passage = { subject, target, tls, listed: true, request, line, fields, hide };
  return { kind: "pass", passage };
}
