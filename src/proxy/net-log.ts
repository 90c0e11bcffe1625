import { AUDIT_VERSION, type AuditRecord, type NetRecord } from "../audit/record.ts";
import { escapeControl } from "../policy/escape-control.ts";

/** What was asked for. */
export interface NetSubject {
  readonly method: string;
  readonly host: string;
  readonly port: number;
  readonly path: string | null;
  readonly route: string | null;
}

export interface NetDecision extends NetSubject {
  readonly ip: string | null;
  readonly action: NetRecord["action"];
  readonly ruleId: string | null;
  readonly reason: string;
  /** The line of policy that would allow it. */
  readonly permit: string | null;
}

export interface NetDenial {
  readonly what: string;
  readonly ruleId: string;
  readonly reason: string;
  readonly permit: string | null;
  /** The table that the line belongs in. */
  readonly table: string;
  count: number;
}

export interface NetLogOptions {
  readonly session: string;
  /** False: it could not be recorded, and nothing may happen without a record. */
  readonly write: (record: AuditRecord) => boolean;
  readonly trace: ((line: string) => void) | null;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const DENIALS_MAX = 100;

/** An allowed request on its way; `end` is told once. */
export interface OpenRequest {
  readonly end: (sent: number, received: number, error: string | null) => void;
}

/** Records verdicts before they take effect, and remembers denials for the closing summary. */
export class NetLog {
  readonly #options: NetLogOptions;
  readonly #denials = new Map<string, NetDenial>();
  #nextId = 1;

  constructor(options: NetLogOptions) {
    this.#options = options;
  }

  get denials(): readonly NetDenial[] {
    return [...this.#denials.values()];
  }

  /** Null if it could not be recorded. */
  write(decision: NetDecision): OpenRequest | null {
    const { session, write, trace, now } = this.#options;
    const { method, host, port, ip, path, route, action, ruleId, reason } = decision;
    const id = this.#nextId++;
    const beganMs = now();
    const head = { v: AUDIT_VERSION, session } as const;
    const figures = action === "allow" ? null : 0;
    const isWritten = write({
      ...head,
      event: "net",
      layer: "proxy",
      ts: beganMs / 1000,
      ...{ id, method, host, port, ip, path, route, action },
      rule_id: ruleId,
      reason,
      bytes: figures,
      ms: figures,
    });
    if (!isWritten) return null;
    if (action === "deny") this.#noteDenial(decision);
    trace?.(traceLine(decision));
    return {
      end: (sent, received, error) => {
        const endedMs = now();
        const ms = Math.max(0, endedMs - beganMs);
        const bytes = sent + received;
        const end = { id, host, port, sent, received, bytes, ms, error };
        write({ ...head, event: "net-end", ts: endedMs / 1000, ...end });
      },
    };
  }

  #noteDenial({ method, host, port, path, route, ruleId, reason, permit }: NetDecision): void {
    const where = route === null ? `${host}:${port}` : `${route}:${path ?? ""}`;
    const what = method === "CONNECT" ? where : `${method} ${where}`;
    const key = `${ruleId}\0${what}`;
    const seen = this.#denials.get(key);
    if (seen !== undefined) seen.count++;
    else if (this.#denials.size < DENIALS_MAX) {
      const table = tableOf(route);
      this.#denials.set(key, { what, ruleId: ruleId ?? "", reason, permit, table, count: 1 });
    }
  }
}

/** The table of policy that judges such requests. */
export function tableOf(route: string | null): string {
  return route === null ? "[network]" : `[network.routes.${route}]`;
}

function traceLine({ action, method, host, port, path, ruleId, reason }: NetDecision): string {
  const rule = ruleId === null ? "" : ` rule=${ruleId}`;
  const where = escapeControl(`${method} ${host}:${port}${path ?? ""}`);
  return `net ${action} ${where}${rule} (${escapeControl(reason)})`;
}
