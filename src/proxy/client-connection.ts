// long: the phases of a connection are one state machine, and it is easier to check in one piece.
import { ok, type Result } from "../policy/result.ts";
import { Exchange, type ExchangeEnd } from "./exchange.ts";
import type { Gateway, Upstream } from "./gateway.ts";
import { findHeadEnd, parseRequestHead, wantsMore } from "./http-head.ts";
import { IdleUpstream } from "./idle-upstream.ts";
import { joinLegs, type Leg } from "./leg.ts";
import type { OpenRequest } from "./net-log.ts";
import type { PlanMemory, PlannedRequest } from "./plan-memory.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import { type Answer, renderAnswer } from "./refusal-page.ts";
import {
  badRequest,
  type Passage,
  type PlanContext,
  planRequest,
  type RequestPlan,
} from "./request-plan.ts";
import { openTunnel } from "./tunnel.ts";

export interface ProxyContext {
  readonly plan: () => PlanContext;
  readonly plans: PlanMemory;
  readonly gateway: Gateway;
  readonly limits: ProxyLimits;
  readonly clock: () => number;
  readonly checkSni: boolean;
  /** A bug of ours. */
  readonly failed: (error: unknown) => void;
}

type Phase = "head" | "deciding" | "exchange" | "tunnel" | "closing";

const EMPTY = Buffer.alloc(0);
/** Safe to send again over a new connection, if a kept one turns out to be closed. */
const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** One client of the proxy: judges each request that comes over its connection by itself. */
export class ClientConnection {
  readonly #leg: Leg;
  readonly #context: ProxyContext;
  readonly #idle = new IdleUpstream();
  #phase: Phase = "head";
  #pending: Buffer = EMPTY;
  #scanned = 0;
  #wantsMore = false;
  #sinceMs: number;
  #exchange: Exchange | null = null;
  /** A request has been answered, and the next one is not looked at yet. */
  #isWaiting = false;

  constructor(leg: Leg, context: ProxyContext) {
    this.#leg = leg;
    this.#context = context;
    this.#sinceMs = context.clock();
    leg.listener = {
      data: (bytes) => this.#received(bytes),
      end: () => this.#ended(),
      drained: () => this.#drained(),
      closed: () => this.#closed(),
    };
  }

  /** Ends what has waited too long. */
  sweep(nowMs: number): void {
    const { headMs, answerMs, idleMs, lingerMs } = this.#context.limits;
    const waitedMs = nowMs - this.#sinceMs;
    const isIdle = nowMs - this.#leg.lastActiveMs > idleMs;
    switch (this.#phase) {
      // Closed, not cut: a slow reader may not have heard the end of its answer yet.
      case "head":
        if (isIdle) this.#leg.destroy();
        else if (waitedMs > headMs && !this.#isWaiting) this.#endHead();
        return;
      case "closing":
        if (isIdle) this.#leg.destroy();
        else if (waitedMs > lingerMs) this.#leg.close();
        return;
      case "exchange":
        if (this.#exchange?.hasAnswered === false && waitedMs > answerMs) {
          this.#exchange.abort(504, "it did not answer in time");
        } else if (isIdle) this.#leg.destroy();
        return;
      case "tunnel":
        if (isIdle) this.#leg.destroy();
        return;
      case "deciding":
        return;
      default:
        this.#phase satisfies never;
    }
  }

  /** Whoever has begun a head and does not end it is no honest client. */
  #endHead(): void {
    if (this.#pending.length > 0) this.#leg.destroy();
    else this.#leg.close();
  }

  reply(answer: Answer, options: { readonly keep: boolean }): void {
    if (!this.#leg.isOpen) return;
    const keep = options.keep && this.#wantsMore;
    this.#leg.write(renderAnswer(answer, { close: !keep }));
    if (keep) this.#nextRequest();
    else this.#linger();
  }

  #received(bytes: Buffer): void {
    switch (this.#phase) {
      case "head":
        this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
        this.#readHead();
        return;
      case "exchange":
        if (this.#exchange !== null) this.#keep(this.#exchange.fromClient(bytes));
        return;
      case "deciding":
        this.#keep(bytes);
        return;
      case "tunnel":
      case "closing":
        return;
      default:
        this.#phase satisfies never;
    }
  }

  /** Bytes of a later request wait, and so does whoever sends them. */
  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    this.#leg.pause();
  }

  #ended(): void {
    if (this.#phase === "exchange") this.#exchange?.clientEnded();
    else if (this.#phase !== "deciding" && !this.#isWaiting) this.#leg.close();
  }

  #drained(): void {
    if (this.#exchange !== null) this.#exchange.clientDrained();
    else if (this.#isWaiting) this.#readOn();
  }

  #closed(): void {
    this.#idle.close();
    this.#exchange?.abort(502, "the client went away");
  }

  #readHead(): void {
    const end = findHeadEnd(this.#pending, this.#scanned);
    if (!end.ok) {
      this.#badHead(end.error);
      return;
    }
    if (end.value === "more") {
      if (this.#scanned === 0) this.#sinceMs = this.#context.clock();
      this.#scanned = this.#pending.length;
      return;
    }
    const planned = this.#plan(this.#pending.toString("latin1", 0, end.value));
    if (!planned.ok) {
      this.#badHead(planned.error);
      return;
    }
    this.#pending = this.#pending.subarray(end.value);
    this.#scanned = 0;
    this.#phase = "deciding";
    this.#wantsMore = planned.value.wantsMore;
    this.#serve(planned.value.plan).catch((error: unknown) => {
      // This connection ends, and nothing has passed that was not judged.
      this.#leg.destroy();
      this.#context.failed(error);
    });
  }

  #plan(text: string): Result<PlannedRequest, string> {
    const { plan, plans } = this.#context;
    const known = plans.recall(text);
    if (known !== null) return ok(known);
    const head = parseRequestHead(text);
    if (!head.ok) return head;
    const planned = { plan: planRequest(head.value, plan()), wantsMore: wantsMore(head.value) };
    plans.keep(text, planned);
    return ok(planned);
  }

  #badHead(reason: string): void {
    this.reply(this.#context.gateway.refuse(badRequest(reason)), { keep: false });
  }

  async #serve(plan: RequestPlan): Promise<void> {
    const { gateway } = this.#context;
    switch (plan.kind) {
      case "refuse": {
        const answer = gateway.refuse(plan.refusal);
        this.reply(answer, { keep: plan.refusal.keep === true && answer.status !== 503 });
        return;
      }
      case "tunnel":
        return this.#tunnel(plan);
      case "pass":
        return this.#pass(plan.passage);
      default:
        return plan satisfies never;
    }
  }

  async #tunnel(plan: Extract<RequestPlan, { kind: "tunnel" }>): Promise<void> {
    const { subject, target } = plan;
    const { gateway, checkSni } = this.#context;
    const opened = await gateway.open({ subject, target, tls: null, listed: false });
    if (!opened.ok) return this.reply(opened.error, { keep: opened.error.status !== 503 });
    const { upstream, record } = opened.value;
    const { leg, address: ip } = upstream;
    if (!this.#leg.isOpen) {
      leg.destroy();
      record.end(0, 0, "the client went away");
      return;
    }
    const early = this.#pending;
    this.#pending = EMPTY;
    this.#phase = "tunnel";
    openTunnel({
      client: this.#leg,
      upstream: leg,
      target,
      checkSni,
      early,
      refused: (reason) =>
        void gateway.refuse({ subject, ruleId: "builtin:sni", status: 403, reason, ip }),
      done: (error) => record.end(leg.bytesOut, leg.bytesIn, error),
    });
  }

  async #pass(passage: Passage): Promise<void> {
    const { request, subject } = passage;
    const { gateway } = this.#context;
    const isBodiless = request.framing.kind === "none";
    const isRepeatable = isBodiless && REPEATABLE.has(request.method);
    const kept = this.#idle.take(passage, { isRepeatable });
    if (kept !== null) {
      const record = gateway.record(subject, kept.address, kept.verdict);
      if (record.ok) return this.#exchangeOver(passage, kept, record.value, { isReused: true });
      kept.leg.destroy();
      return this.reply(record.error, { keep: false });
    }
    const opened = await gateway.open(passage);
    if (!opened.ok) {
      return this.reply(opened.error, { keep: isBodiless && opened.error.status !== 503 });
    }
    const { upstream, record } = opened.value;
    if (this.#leg.isOpen) return this.#exchangeOver(passage, upstream, record, { isReused: false });
    upstream.leg.destroy();
    record.end(0, 0, "the client went away");
  }

  #exchangeOver(
    passage: Passage,
    upstream: Upstream,
    record: OpenRequest,
    options: { readonly isReused: boolean },
  ): void {
    const { leg } = upstream;
    const [sentBefore, receivedBefore] = [leg.bytesOut, leg.bytesIn];
    const exchange = new Exchange({
      client: this.#leg,
      upstream: leg,
      request: passage.request,
      line: passage.line,
      fields: passage.fields,
      hide: passage.hide,
      isReused: options.isReused,
      done: (end) => {
        this.#exchange = null;
        this.#exchangeEnded(end, passage, upstream, (error) =>
          record.end(leg.bytesOut - sentBefore, leg.bytesIn - receivedBefore, error),
        );
      },
    });
    this.#exchange = exchange;
    this.#phase = "exchange";
    this.#sinceMs = this.#context.clock();
    exchange.start();
    if (this.#exchange !== exchange) return;
    const early = this.#pending;
    this.#pending = EMPTY;
    this.#keep(exchange.fromClient(early));
    if (this.#exchange !== exchange) return;
    if (this.#leg.hasEnded) exchange.clientEnded();
    else if (this.#pending.length === 0 && !leg.isBacklogged) this.#leg.resume();
  }

  #exchangeEnded(
    end: ExchangeEnd,
    passage: Passage,
    upstream: Upstream,
    count: (error: string | null) => void,
  ): void {
    switch (end.kind) {
      case "done":
        count(null);
        if (end.keepUpstream && end.keepClient) this.#idle.keep(upstream);
        else upstream.leg.close();
        if (end.keepClient) this.#nextRequest();
        else this.#linger();
        return;
      case "upgraded": {
        const early = this.#pending;
        this.#pending = EMPTY;
        this.#phase = "tunnel";
        if (end.early.length > 0) this.#leg.write(end.early);
        if (early.length > 0) upstream.leg.write(early);
        joinLegs(this.#leg, upstream.leg, () => count(null));
        return;
      }
      case "stale":
        count("the kept connection was closed; tried again");
        upstream.leg.destroy();
        this.#phase = "deciding";
        this.#pass(passage).catch((error: unknown) => {
          this.#leg.destroy();
          this.#context.failed(error);
        });
        return;
      case "failed": {
        count(end.reason);
        upstream.leg.destroy();
        const { host, port } = passage.target;
        const reason = end.status === 400 ? end.reason : `${host}:${port}: ${end.reason}`;
        this.reply({ status: end.status, reason, ruleId: null, permit: null }, { keep: false });
        return;
      }
      case "broken":
        count(end.reason);
        upstream.leg.destroy();
        this.#leg.destroy();
        return;
      default:
        end satisfies never;
    }
  }

  /**
   * Goes on to the next request, though not at once: many may have come together, and answers to a
   * client that does not read them must not pile up.
   */
  #nextRequest(): void {
    this.#phase = "head";
    this.#scanned = 0;
    const { isBacklogged } = this.#leg;
    if (!isBacklogged && this.#pending.length === 0) {
      this.#readOn();
      return;
    }
    this.#isWaiting = true;
    this.#leg.pause();
    if (!isBacklogged) setImmediate(() => this.#readOn());
  }

  #readOn(): void {
    if (this.#phase !== "head" || !this.#leg.isOpen) return;
    this.#isWaiting = false;
    this.#sinceMs = this.#context.clock();
    if (this.#pending.length > 0) this.#readHead();
    if (this.#phase !== "head") return;
    if (this.#leg.hasEnded) this.#leg.close();
    else this.#leg.resume();
  }

  #linger(): void {
    this.#phase = "closing";
    this.#pending = EMPTY;
    this.#sinceMs = this.#context.clock();
    if (this.#leg.hasEnded) {
      this.#leg.close();
      return;
    }
    this.#leg.finish();
    this.#leg.resume();
  }
}
