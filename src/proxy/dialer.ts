import type { Socket, SocketHandler } from "bun";
import { addressOf } from "../policy/host-rule.ts";
import type { NetTarget, NetVerdict, NetworkJudge } from "../policy/network-judge.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { Leg, SOCKET_EVENTS, type SocketOwner } from "./leg.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import type { Resolve } from "./resolver.ts";
import { VerdictMemory } from "./verdict-memory.ts";

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

const TLS = "TLS";

/** Resolves a name once, judges every address it has, and connects to nothing but those. */
export class Dialer {
  readonly #options: DialerOptions;
  readonly #memory = new VerdictMemory();

  constructor(options: DialerOptions) {
    this.#options = options;
  }

  /** `listed`: the policy itself names the target, as the upstream of a route. */
  async judge(target: NetTarget, options: { readonly listed?: boolean } = {}): Promise<Judged> {
    const { judge } = this.#options;
    // Neither a host nor an address has a blank in it, so no two questions look alike.
    const key = `${options.listed === true} ${target.port} ${target.host}`;
    const before = this.#memory.recall(key, () => judge.judgeHost(target, options));
    if (before.action === "deny") return { kind: "denied", verdict: before, address: null };
    const literal = addressOf(target.host);
    const resolved = literal === null ? await this.#options.resolve(target.host) : ok([literal]);
    if (!resolved.ok) {
      const isLate = resolved.error.includes("in time");
      return { kind: "unresolved", reason: resolved.error, isLate };
    }
    let verdict = before;
    for (const address of resolved.value) {
      verdict = this.#memory.recall(`${key} ${address}`, () =>
        judge.judgeAddress(target, address, before, options),
      );
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
      // What somebody answered says more than that nobody did, at an address beside it.
      if (!failure.reason.startsWith(TLS)) failure = leg.error;
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
      const dial = new Dial(this.#options.clock, { isTls: tls !== null, timeoutMs }, resolve);
      Bun.connect<SocketOwner>({
        hostname,
        port,
        allowHalfOpen: true,
        data: dial,
        ...(tls === null ? {} : { tls: { ...tls, rejectUnauthorized: true } }),
        socket: DIAL_EVENTS,
      }).catch((error: unknown) => dial.fail(502, codeOf(error)));
    });
  }
}

/** A connection that is not there yet: owns its socket until a leg can. */
class Dial implements SocketOwner {
  readonly #clock: () => number;
  readonly #isTls: boolean;
  readonly #timer: Timer;
  readonly #done: (result: Result<Leg, DialFailure>) => void;
  #socket: Socket<SocketOwner> | null = null;
  #isSettled = false;

  constructor(
    clock: () => number,
    options: { readonly isTls: boolean; readonly timeoutMs: number },
    done: (result: Result<Leg, DialFailure>) => void,
  ) {
    this.#clock = clock;
    this.#isTls = options.isTls;
    this.#timer = setTimeout(() => this.fail(504, "no connection in time"), options.timeoutMs);
    this.#done = done;
  }

  opened(socket: Socket<SocketOwner>): void {
    this.#socket = socket;
    if (!this.#isTls || this.#isSettled) this.#ready(socket);
  }

  secured(socket: Socket<SocketOwner>, isSafe: boolean, error: Error | null): void {
    if (isSafe && !error) this.#ready(socket);
    else this.fail(502, `${TLS}: ${error?.message ?? "the handshake failed"}`);
  }

  fail(status: DialFailure["status"], reason: string): void {
    if (!this.#settle(err({ status, reason }))) return;
    this.#socket?.terminate();
  }

  /** Nobody speaks before the handshake is over. */
  received(): void {}

  flushed(): void {}

  ended(): void {
    this.fail(502, "the connection was closed");
  }

  gone(): void {
    this.fail(502, "the connection was closed");
  }

  #ready(socket: Socket<SocketOwner>): void {
    // It may open after the time was up.
    if (this.#isSettled) {
      socket.terminate();
      return;
    }
    const leg = new Leg(socket, this.#clock);
    socket.data = leg;
    this.#settle(ok(leg));
  }

  /** False if it had been settled before. */
  #settle(result: Result<Leg, DialFailure>): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#done(result);
    return true;
  }
}

/** One object for all connections: the runtime keeps what it is given for each of them. */
const DIAL_EVENTS: SocketHandler<SocketOwner> = {
  ...SOCKET_EVENTS,
  open: (socket) => {
    if (socket.data instanceof Dial) socket.data.opened(socket);
  },
  handshake: (socket, isSafe, error) => {
    if (socket.data instanceof Dial) socket.data.secured(socket, isSafe, error);
  },
  connectError: (socket, error) => {
    if (socket.data instanceof Dial) socket.data.fail(502, codeOf(error));
  },
};

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "the connection failed";
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
