import { join } from "node:path";
import { abstractName } from "./selftest-network.ts";

export interface Servers extends Disposable {
  readonly allowedPort: number;
  readonly strangePort: number;
}

const LOOPBACK = "127.0.0.1";
const PORT_TRIES = 8;

/** Whom the attempts try to reach, all on this machine: `grounds` get a unix socket each. */
export function startServers(grounds: readonly string[]): Servers {
  const running: { stop: (closeAll: boolean) => unknown }[] = [];
  const socket = { data: () => undefined };
  const web = (hostname: string, port: number) => {
    const server = Bun.serve({ hostname, port, fetch: () => new Response("hello\n") });
    running.push(server);
    return server.port ?? 0;
  };
  const strangePort = web(LOOPBACK, 0);
  for (const ground of grounds) {
    running.push(Bun.listen({ unix: join(ground, "outside/socket"), socket }));
  }
  running.push(Bun.listen({ unix: abstractName(strangePort), socket }));
  return {
    allowedPort: pairOfPorts(web),
    strangePort,
    [Symbol.dispose]: () => {
      for (const server of running) server.stop(true);
    },
  };
}

/** A port that is free on two addresses; somebody else may have it on one of them. */
function pairOfPorts(web: (hostname: string, port: number) => number): number {
  for (let tries = 1; ; tries++) {
    const port = web(LOOPBACK, 0);
    try {
      return web("127.0.0.2", port);
    } catch (error) {
      if (tries === PORT_TRIES) throw error;
    }
  }
}
