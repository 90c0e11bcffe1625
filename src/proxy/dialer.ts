import type { Socket } from "bun";
import { addressOf } from "../policy/host-rule.ts";
import type { NetTarget, NetVerdict, NetworkJudge } from "../policy/network-judge.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { LEG_EVENTS, Leg } from "./leg.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import type { Resolve } from "./resolver.ts";

/** What became of a wish to go somewhere. */
export type Judged =
  | {
      readonly kind: "allowed";
      readonly verdict: NetVerdict;
      readonly addresses: readonly string[];
    }
  | { readonly kind: "denied"; readonly verdict: NetVerdict; readonly address: string | null }
  | { readonly kind: "unresolved"; readonly reason: string; readonly isLate: boolean };

export interface DialFailure {
  readonly status: 502 | 504;
  readonly reason: string;
}

export interface DialerOptions {
  readonly judge: NetworkJudge;
  readonly resolve: Resolve;
  readonly limits: ProxyLimits;
  readonly clock: () => number;
}

/** Resolves a name once, judges every address it has, and connects to nothing but those. */
export class Dialer {
  readonly #options: DialerOptions;

  constructor(options: DialerOptions) {
    this.#options = options;
  }

  /** `listed`: the policy itself names the target, as the upstream of a route. */
  async judge(target: NetTarget, options: { readonly listed?: boolean } = {}): Promise<Judged> {
    const { judge } = this.#options;
    const before = judge.judgeHost(target, options);
    if (before.action === "deny") return { kind: "denied", verdict: before, address: null };
    const literal = addressOf(target.host);
    const resolved = literal === null ? await this.#options.resolve(target.host) : ok([literal]);
    if (!resolved.ok) {
      const isLate = resolved.error.includes("in time");
      return { kind: "unresolved", reason: resolved.error, isLate };
    }
    let verdict = before;
    for (const address of resolved.value) {
      verdict = judge.judgeAddress(target, address, before, options);
      if (verdict.action === "deny") return { kind: "denied", verdict, address };
    }
    return { kind: "allowed", verdict, addresses: resolved.value };
  }

  /** Connects to the first of the checked addresses that answers. */
  async connect(
    target: NetTarget,
    addresses: readonly string[],
    tls: { readonly serverName: string } | null,
  ): Promise<Result<Leg, DialFailure>> {
    const { limits, clock } = this.#options;
    const until = clock() + limits.connectMs;
    let failure: DialFailure = { status: 502, reason: "it has no address" };
    for (const address of addresses) {
      const leftMs = until - clock();
      if (leftMs <= 0) return err({ status: 504, reason: "no connection in time" });
      const leg = await this.#dial(address, target.port, tls, leftMs);
      if (leg.ok) return leg;
      failure = leg.error;
    }
    return err(failure);
  }

  #dial(
    hostname: string,
    port: number,
    tls: { readonly serverName: string } | null,
    timeoutMs: number,
  ): Promise<Result<Leg, DialFailure>> {
    return new Promise((resolve) => {
      let opened: Socket<Leg> | null = null;
      let isSettled = false;
      const settle = (result: Result<Leg, DialFailure>): void => {
        if (isSettled) return;
        isSettled = true;
        clearTimeout(timer);
        resolve(result);
        if (!result.ok) opened?.terminate();
      };
      const fail = (status: 502 | 504, reason: string): void => settle(err({ status, reason }));
      const timer = setTimeout(() => fail(504, "no connection in time"), timeoutMs);
      const ready = (socket: Socket<Leg>): void => {
        // It may open after the time was up.
        if (isSettled) socket.terminate();
        else settle(ok(socket.data));
      };
      Bun.connect<Leg>({
        hostname,
        port,
        allowHalfOpen: true,
        ...(tls === null ? {} : { tls: { ...tls, rejectUnauthorized: true } }),
        socket: {
          ...LEG_EVENTS,
          open: (socket) => {
            opened = socket;
            socket.data = new Leg(socket, this.#options.clock);
            if (tls === null) ready(socket);
          },
          handshake: (socket, isSafe, error) => {
            if (isSafe && !error) ready(socket);
            else fail(502, `TLS: ${error?.message ?? "the handshake failed"}`);
          },
          connectError: (_, error) => fail(502, codeOf(error)),
          close: (socket, error) => {
            fail(502, "the connection was closed");
            socket.data?.gone(error === undefined ? null : String(error));
          },
        },
      }).catch((error: unknown) => fail(502, codeOf(error)));
    });
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "the connection failed";
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
