import { escapeControl } from "../policy/escape-control.ts";
import type { HeaderField } from "./http-head.ts";
import { renderHead } from "./http-head.ts";

/** An answer of the proxy's own. */
export interface Answer {
  readonly status: 400 | 401 | 403 | 404 | 405 | 407 | 502 | 503 | 504;
  /** What happened, as a sentence without its full stop. */
  readonly reason: string;
  readonly ruleId: string | null;
  /** The line of policy that would allow it, and the file that it belongs in. */
  readonly permit: { readonly line: string; readonly table: string; readonly file: string } | null;
  readonly fields?: readonly HeaderField[];
}

const PHRASES: Readonly<Record<Answer["status"], string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  407: "Proxy Authentication Required",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

const PHRASE_CHARACTERS_MAX = 300;

/** The phrase says it all once more: of a refused CONNECT most clients show nothing else. */
export function renderAnswer(answer: Answer, options: { readonly close: boolean }): Buffer {
  const { status, ruleId, permit, fields = [] } = answer;
  const reason = escapeControl(answer.reason);
  const lines = [`faraday: ${reason}`];
  if (ruleId !== null) lines.push(`rule: ${escapeControl(ruleId)}`);
  if (permit !== null) {
    lines.push(
      `hint: to allow it, put this below ${permit.table} in ${escapeControl(permit.file)}:`,
    );
    lines.push(`    ${escapeControl(permit.line)}`);
  }
  const body = Buffer.from(`${lines.join("\n")}\n`);
  const phrase = `${PHRASES[status]}: faraday: ${reason}`
    .replace(/[^\x20-\x7e]/g, "?")
    .slice(0, PHRASE_CHARACTERS_MAX);
  const head = renderHead(`HTTP/1.1 ${status} ${phrase}`, [
    ["Content-Type", "text/plain; charset=utf-8"],
    ["Content-Length", String(body.length)],
    ["Cache-Control", "no-store"],
    ...fields,
    ...(options.close ? ([["Connection", "close"]] as const) : []),
  ]);
  return Buffer.concat([head, body]);
}
