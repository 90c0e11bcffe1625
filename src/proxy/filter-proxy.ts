import type { NetworkPolicy } from "../policy/model.ts";
import { NetworkJudge } from "../policy/network-judge.ts";
import { ClientConnection, type ProxyContext } from "./client-connection.ts";
import { Dialer } from "./dialer.ts";
import { Gateway } from "./gateway.ts";
import { Leg, SOCKET_EVENTS } from "./leg.ts";
import type { NetLog } from "./net-log.ts";
import { PlanMemory } from "./plan-memory.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import type { Resolve } from "./resolver.ts";
import { Route } from "./route.ts";
import type { SessionToken } from "./session-token.ts";

export interface FilterProxyOptions {
  readonly network: NetworkPolicy;
  readonly policyName: string;
  readonly token: SessionToken;
  /** By credential key. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly log: NetLog;
  readonly limits: ProxyLimits;
  readonly resolve: Resolve;
  /** Milliseconds that never go back. */
  readonly clock: () => number;
  /** A bug of ours, which ended one connection. */
  readonly failed: (error: unknown) => void;
}

export interface FilterProxy {
  readonly port: number;
  readonly connections: () => number;
  readonly stop: () => void;
}

const LOOPBACK = "127.0.0.1";

/** Listens on loopback, on a port of the kernel's choice. */
export function startFilterProxy(options: FilterProxyOptions): FilterProxy {
  const { network, token, secrets, limits, clock } = options;
  const clients = new Map<Leg, ClientConnection>();
  const judge = new NetworkJudge(network);
  const dialer = new Dialer({ judge, resolve: options.resolve, limits, clock });
  const routes = new Map(
    network.routes.map((route) => {
      const secret = route.credentialKey === null ? null : secrets.get(route.credentialKey);
      if (secret === undefined) throw new Error(`no secret for the route ${route.name}`);
      return [route.name, new Route(route, secret, token)] as const;
    }),
  );
  const context: ProxyContext = {
    plan: () => ({ token, routes, ownPort: listener.port }),
    plans: new PlanMemory(),
    gateway: new Gateway(dialer, options.log, options.policyName),
    limits,
    clock,
    checkSni: network.checkSni,
    failed: options.failed,
  };
  const listener = Bun.listen<Leg>({
    hostname: LOOPBACK,
    port: 0,
    allowHalfOpen: true,
    socket: {
      ...SOCKET_EVENTS,
      open: (socket) => {
        const leg = new Leg(socket, clock);
        socket.data = leg;
        const client = new ClientConnection(leg, context);
        clients.set(leg, client);
        if (clients.size <= limits.connectionsMax) return;
        const reason = "the proxy has too many connections";
        client.reply({ status: 503, reason, ruleId: null, permit: null }, { keep: false });
      },
      close: (socket, error) => {
        clients.delete(socket.data);
        socket.data?.gone(error === undefined ? null : String(error));
      },
    },
  });
  const sweeper = setInterval(() => {
    const nowMs = clock();
    for (const client of clients.values()) client.sweep(nowMs);
  }, limits.sweepMs);
  return {
    port: listener.port,
    connections: () => clients.size,
    stop: () => {
      clearInterval(sweeper);
      listener.stop(true);
    },
  };
}
