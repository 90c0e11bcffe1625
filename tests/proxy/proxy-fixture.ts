/** What the proxy's tests share: a proxy in this process, raw clients, and raw servers. */
import type { Socket } from "bun";
import type { AuditRecord, NetRecord } from "../../src/audit/record.ts";
import { type FilterProxy, startFilterProxy } from "../../src/proxy/filter-proxy.ts";
import { NetLog } from "../../src/proxy/net-log.ts";
import { DEFAULT_LIMITS, type ProxyLimits } from "../../src/proxy/proxy-limits.ts";
import { SessionToken } from "../../src/proxy/session-token.ts";
import { parsed } from "../policy/policy-fixture.ts";

export const TOKEN = "0123456789abcdef0123456789abcdef0123456789abcdef";
export const AUTH = `Proxy-Authorization: Basic ${btoa(`faraday:${TOKEN}`)}\r\n`;

export interface ProxyFixture extends Disposable {
  readonly proxy: FilterProxy;
  readonly port: number;
  readonly records: AuditRecord[];
  /** `action rule_id` of each verdict so far. */
  readonly verdicts: () => string[];
  readonly failures: unknown[];
}

export interface FixtureOptions {
  /** Addresses by name; what is not here does not resolve. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
  readonly limits?: Partial<ProxyLimits>;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly audit?: (record: AuditRecord) => boolean;
}

/** A proxy under a `[network]` table of these lines. */
export function proxyUnder(lines: string, options: FixtureOptions = {}): ProxyFixture {
  const { network } = parsed(`[network]\n${lines}\n`).policy;
  if (network === null) throw new Error("no network");
  const records: AuditRecord[] = [];
  const failures: unknown[] = [];
  const write = (record: AuditRecord): boolean => {
    records.push(record);
    return options.audit?.(record) ?? true;
  };
  const proxy = startFilterProxy({
    network,
    policyName: "p.toml",
    token: new SessionToken(TOKEN),
    secrets: new Map(Object.entries(options.secrets ?? {})),
    log: new NetLog({ session: "s", write, trace: null, now: () => Date.now() }),
    limits: { ...DEFAULT_LIMITS, sweepMs: 20, ...options.limits },
    resolve: (name) => {
      const addresses = options.names?.[name];
      return Promise.resolve(
        addresses === undefined
          ? { ok: false, error: "there is no such name" }
          : { ok: true, value: addresses },
      );
    },
    clock: () => performance.now(),
    failed: (error) => failures.push(error),
  });
  return {
    proxy,
    port: proxy.port,
    records,
    failures,
    verdicts: () =>
      records
        .filter((record): record is NetRecord => record.event === "net")
        .map(({ action, rule_id }) => `${action} ${rule_id}`),
    [Symbol.dispose]: proxy.stop,
  };
}

/** A TCP client that says what it is told and remembers what it hears. */
export class RawClient {
  heard = "";
  bytesHeard = 0;
  isClosed = false;
  hasEnded = false;
  readonly #socket: Socket<undefined>;
  readonly #waiting: (() => void)[] = [];
  #queue: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket<undefined>) {
    this.#socket = socket;
  }

  static async to(port: number, options: { readonly keeps?: boolean } = {}): Promise<RawClient> {
    const keeps = options.keeps ?? true;
    const { promise, resolve, reject } = Promise.withResolvers<RawClient>();
    let client: RawClient | null = null;
    const wake = (): void => {
      client?.wake();
    };
    Bun.connect<undefined>({
      hostname: "127.0.0.1",
      port,
      allowHalfOpen: true,
      socket: {
        open: (socket) => {
          client = new RawClient(socket);
          resolve(client);
        },
        data: (_, bytes) => {
          if (client === null) return;
          client.bytesHeard += bytes.length;
          if (keeps) client.heard += bytes.toString("latin1");
          wake();
        },
        drain: () => client?.flush(),
        end: () => {
          if (client !== null) client.hasEnded = true;
          wake();
        },
        close: () => {
          if (client !== null) client.isClosed = true;
          wake();
        },
        error: () => wake(),
        connectError: (_, error) => reject(error),
      },
    }).catch(reject);
    return promise;
  }

  send(text: string | Uint8Array): void {
    const bytes = typeof text === "string" ? Buffer.from(text, "latin1") : Buffer.from(text);
    this.#queue = Buffer.concat([this.#queue, bytes]);
    this.flush();
  }

  wake(): void {
    for (const each of this.#waiting.splice(0)) each();
  }

  flush(): void {
    const written = Math.max(0, this.#socket.write(this.#queue));
    this.#queue = this.#queue.subarray(written);
  }

  get isSending(): boolean {
    return this.#queue.length > 0;
  }

  /** Ends this side alone. */
  finish(): void {
    this.#socket.shutdown();
  }

  close(): void {
    this.#socket.terminate();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Waits until what was heard holds true, or the connection is gone. */
  async until(holds: (client: RawClient) => boolean): Promise<this> {
    while (!holds(this) && !this.isClosed) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this;
  }

  async untilHeard(text: string): Promise<string> {
    await this.until(({ heard }) => heard.includes(text));
    if (!this.heard.includes(text)) throw new Error(`closed after ${JSON.stringify(this.heard)}`);
    return this.heard;
  }

  async untilClosed(): Promise<string> {
    await this.until(({ hasEnded }) => hasEnded);
    this.close();
    return this.heard;
  }
}

/** Sends one text and returns everything that comes back until the end. */
export async function exchange(port: number, text: string): Promise<string> {
  const client = await RawClient.to(port);
  client.send(text);
  return client.untilClosed();
}

export interface RawServer extends Disposable {
  readonly port: number;
  /** What each connection has sent so far. */
  readonly received: string[];
  readonly connections: () => number;
}

export interface RawServerOptions {
  readonly hostname?: string;
  readonly data?: (socket: Socket<number>, text: string, all: string) => void;
  readonly open?: (socket: Socket<number>) => void;
  readonly end?: (socket: Socket<number>) => void;
}

/** A TCP server; what it answers is up to the test. */
export function rawServer(options: RawServerOptions = {}): RawServer {
  const received: string[] = [];
  const state = { open: 0 };
  const server = Bun.listen<number>({
    hostname: options.hostname ?? "127.0.0.1",
    port: 0,
    allowHalfOpen: true,
    socket: {
      open: (socket) => {
        socket.data = received.push("") - 1;
        state.open++;
        options.open?.(socket);
      },
      data: (socket, bytes) => {
        const text = bytes.toString("latin1");
        received[socket.data] += text;
        options.data?.(socket, text, received[socket.data] ?? "");
      },
      end: (socket) => (options.end === undefined ? void socket.end() : options.end(socket)),
      close: () => void state.open--,
      error: () => {},
    },
  });
  return {
    port: server.port,
    received,
    connections: () => state.open,
    [Symbol.dispose]: () => server.stop(true),
  };
}

/** An HTTP server that answers every whole head with the same text. */
export const answering = (answer: string): RawServer =>
  rawServer({
    data: (socket, _, all) => {
      if (all.endsWith("\r\n\r\n")) socket.write(answer);
    },
  });

export const HELLO = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
