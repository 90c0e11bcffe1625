import type { NetTarget, NetVerdict } from "../policy/network-judge.ts";
import { err, ok, type Result } from "../policy/result.ts";
import type { Dialer } from "./dialer.ts";
import type { Leg } from "./leg.ts";
import { type NetLog, type NetSubject, type OpenRequest, tableOf } from "./net-log.ts";
import type { Answer } from "./refusal-page.ts";
import type { Refusal } from "./request-plan.ts";

/** A connection to somewhere that the policy allows. */
export interface Upstream {
  readonly key: string;
  readonly leg: Leg;
  readonly address: string;
  readonly verdict: NetVerdict;
}

export interface GatewayWish {
  readonly subject: NetSubject;
  readonly target: NetTarget;
  readonly tls: { readonly serverName: string } | null;
  readonly listed: boolean;
}

export interface Opened {
  readonly upstream: Upstream;
  readonly record: OpenRequest;
}

const UNRECORDED: Answer = {
  status: 503,
  reason: "the audit log cannot be written, so nothing is let through",
  ruleId: "audit",
  permit: null,
};

/** Judges a wish, records the verdict, and only then connects. */
export class Gateway {
  readonly #dialer: Dialer;
  readonly #log: NetLog;
  readonly #policyName: string;

  /** `policyName` is the file that hints name. */
  constructor(dialer: Dialer, log: NetLog, policyName: string) {
    this.#dialer = dialer;
    this.#log = log;
    this.#policyName = policyName;
  }

  static keyOf({ target: { host, port }, tls }: Pick<GatewayWish, "target" | "tls">): string {
    return `${tls === null ? "http" : "https"}://${host}:${port}`;
  }

  async open(wish: GatewayWish): Promise<Result<Opened, Answer>> {
    const { subject, target, tls, listed } = wish;
    const judged = await this.#dialer.judge(target, { listed });
    if (judged.kind === "denied") {
      const { ruleId, reason, permit } = judged.verdict;
      const ip = judged.address;
      return err(this.refuse({ subject, ruleId, status: 403, reason, permit, ip }));
    }
    if (judged.kind === "unresolved") {
      const reason = `${target.host}: ${judged.reason}`;
      const status = judged.isLate ? 504 : 502;
      return err(this.refuse({ subject, ruleId: null, status, reason }));
    }
    const { verdict, addresses } = judged;
    const [address = ""] = addresses;
    const record = this.record(subject, address, verdict);
    if (!record.ok) return record;
    const leg = await this.#dialer.connect(target, addresses, tls);
    if (!leg.ok) {
      record.value.end(0, 0, leg.error.reason);
      const reason = `${target.host}:${target.port}: ${leg.error.reason}`;
      return err({ status: leg.error.status, reason, ruleId: null, permit: null });
    }
    const upstream = { key: Gateway.keyOf(wish), leg: leg.value, address, verdict };
    return ok({ upstream, record: record.value });
  }

  /** Records that a request is let through. */
  record(subject: NetSubject, ip: string, verdict: NetVerdict): Result<OpenRequest, Answer> {
    const { reason } = verdict;
    const ruleId = subject.route === null ? verdict.ruleId : `route:${subject.route}`;
    const decision = { ...subject, ip, action: "allow", ruleId, reason, permit: null } as const;
    const record = this.#log.write(decision);
    return record === null ? err(UNRECORDED) : ok(record);
  }

  /** Records a refusal, and makes the answer that tells of it. */
  refuse(refusal: Refusal): Answer {
    const { subject, ruleId, status, reason, fields, permit = null, ip = null } = refusal;
    const action = ruleId === null ? "error" : "deny";
    const record = this.#log.write({ ...subject, ip, action, ruleId, reason, permit });
    if (record === null) return UNRECORDED;
    const [table, file] = [tableOf(subject.route), this.#policyName];
    const hint = permit === null ? null : { line: permit, table, file };
    return { status, reason, ruleId, permit: hint, ...(fields === undefined ? {} : { fields }) };
  }
}
