// long: the same proxy stands every kind of load and of bad upstream.
/** The proxy under clients and servers that are slow, broken, hostile or many. */
import { describe, expect, test } from "bun:test";
import type { Socket } from "bun";
import {
  AUTH,
  answering,
  exchange,
  HELLO,
  proxyUnder,
  RawClient,
  rawServer,
} from "./proxy-fixture.ts";

const LOOPBACK = 'allowed_hosts = ["127.0.0.1"]';
const get = (port: number, path = "/"): string =>
  `GET http://127.0.0.1:${port}${path} HTTP/1.1\r\nHost: x\r\n${AUTH}Connection: close\r\n\r\n`;
const connect = (port: number): string =>
  `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n${AUTH}\r\n`;

/** More than all the buffers of kernel and proxy between two sockets could hold. */
const FLOOD_BYTES = 256 * 1024 * 1024;
const BUFFERS_BYTES_MAX = 32 * 1024 * 1024;
/** As much as fits into the buffers, so that the proxy is done with it long before its reader. */
const ANSWER_BYTES = 3 * 512 * 1024;
const CHUNK = Buffer.alloc(256 * 1024, 120);

/** Sends as much as is taken, and counts it. */
class Flood {
  sent = 0;
  readonly #bytes: number;
  readonly #chunk: Buffer;
  #socket: Socket<number> | null = null;

  constructor(bytes = FLOOD_BYTES, chunk = CHUNK) {
    this.#bytes = bytes;
    this.#chunk = chunk;
  }

  start(socket: Socket<number>): void {
    this.#socket = socket;
    this.more();
  }

  more(): void {
    while (this.#socket !== null && this.sent < this.#bytes) {
      const from = this.sent % this.#chunk.length;
      const part = this.#chunk.subarray(from, from + this.#bytes - this.sent);
      const written = Math.max(0, this.#socket.write(part));
      this.sent += written;
      if (written < part.length) return;
    }
    this.#socket?.end();
  }
}

function floodServer(flood: Flood, head: string) {
  const server = Bun.listen<number>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket) => {
        if (flood.sent > 0) return;
        socket.write(head);
        flood.start(socket);
      },
      drain: () => flood.more(),
      error: () => {},
    },
  });
  return { port: server.port, [Symbol.dispose]: () => server.stop(true) };
}

/** Until it has not changed for many turns of the loop. */
async function settled(value: () => number): Promise<number> {
  let last = -1;
  for (let still = 0; still < 20; ) {
    await Bun.sleep(5);
    still = value() === last ? still + 1 : 0;
    last = value();
  }
  return last;
}

describe("a reader that does not read", () => {
  test.each([
    ["a tunnel", ""],
    ["an answer", `HTTP/1.1 200 OK\r\nContent-Length: ${FLOOD_BYTES}\r\n\r\n`],
  ])("stops the sender of %s, and loses nothing once it reads", async (what, head) => {
    const flood = new Flood();
    using server = floodServer(flood, head);
    using fixture = proxyUnder(LOOPBACK);
    const client = await RawClient.to(fixture.port, { keeps: false });
    if (what === "a tunnel") {
      client.send(connect(server.port));
      await client.until(({ bytesHeard }) => bytesHeard > 0);
      client.pause();
      client.send("go");
    } else {
      client.send(get(server.port));
      client.pause();
    }
    expect(await settled(() => flood.sent)).toBeLessThan(BUFFERS_BYTES_MAX);
    client.resume();
    await client.until(({ bytesHeard }) => bytesHeard >= FLOOD_BYTES);
    client.close();
    expect(client.bytesHeard).toBeGreaterThanOrEqual(FLOOD_BYTES);
  });

  test.each([
    ["that ends its connection", "Connection: close\r\n", `Content-Length: ${ANSWER_BYTES}\r\n`],
    ["that ends with its connection", "", ""],
    ["on a connection that is kept", "", `Content-Length: ${ANSWER_BYTES}\r\n`],
  ])("hears all of an answer %s, however late", async (_, field, framing) => {
    const flood = new Flood(ANSWER_BYTES);
    using server = floodServer(flood, `HTTP/1.1 200 OK\r\n${framing}\r\n`);
    using fixture = proxyUnder(LOOPBACK, { limits: { lingerMs: 20, headMs: 20 } });
    const client = await RawClient.to(fixture.port, { keeps: false });
    client.send(get(server.port).replace("Connection: close\r\n", field));
    client.pause();
    await settled(() => flood.sent);
    expect(flood.sent).toBe(ANSWER_BYTES);
    client.resume();
    await client.until((each) => each.bytesHeard >= ANSWER_BYTES || each.hasEnded || each.isClosed);
    expect(client.bytesHeard).toBeGreaterThanOrEqual(ANSWER_BYTES);
    client.close();
  });

  test("stops a sender of interim answers", async () => {
    const interim = `HTTP/1.1 102 Processing\r\nX: ${"y".repeat(1000)}\r\n\r\n`;
    const flood = new Flood(FLOOD_BYTES, Buffer.from(interim.repeat(100)));
    using server = floodServer(flood, "");
    using fixture = proxyUnder(LOOPBACK);
    const client = await RawClient.to(fixture.port, { keeps: false });
    client.send(get(server.port));
    client.pause();
    expect(await settled(() => flood.sent)).toBeLessThan(BUFFERS_BYTES_MAX);
    client.close();
  });

  test("of answers to many requests at once gets no more of them", async () => {
    using fixture = proxyUnder(LOOPBACK);
    const client = await RawClient.to(fixture.port, { keeps: false });
    client.pause();
    const refused = "GET http://a.example/ HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1000);
    while (!client.isSending) {
      client.send(refused);
      await Bun.sleep(1);
    }
    const answered = await settled(() => fixture.records.length);
    await Bun.sleep(20);
    expect(fixture.records.length).toBe(answered);
    client.resume();
    await client.until(() => fixture.records.length > answered);
    client.close();
    expect(fixture.failures).toEqual([]);
  });

  test("stops a sender of a body as well", async () => {
    let reader: Socket<number> | null = null;
    using server = rawServer({
      open: (socket) => {
        reader = socket;
        socket.pause();
      },
    });
    using fixture = proxyUnder(LOOPBACK);
    const client = await RawClient.to(fixture.port);
    client.send(
      `POST http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n${AUTH}` +
        `Content-Length: ${64 * CHUNK.length * 4}\r\n\r\n`,
    );
    let sent = 0;
    while (!client.isSending && sent < 256) {
      client.send(CHUNK);
      sent++;
      await Bun.sleep(1);
    }
    expect(sent * CHUNK.length).toBeLessThan(BUFFERS_BYTES_MAX);
    expect(reader).not.toBeNull();
    client.close();
  });
});

describe("an upstream that", () => {
  test("does not listen is 502", async () => {
    const port = unusedPort();
    using fixture = proxyUnder(LOOPBACK);
    expect(await exchange(fixture.port, get(port))).toStartWith("HTTP/1.1 502 ");
    const client = await RawClient.to(fixture.port);
    client.send(connect(port));
    expect(await client.untilHeard("ECONNREFUSED")).toStartWith("HTTP/1.1 502 ");
    client.close();
    expect(fixture.records.at(-1)).toMatchObject({ event: "net-end", error: "ECONNREFUSED" });
  });

  test("never answers is 504", async () => {
    using server = rawServer({});
    using fixture = proxyUnder(LOOPBACK, { limits: { answerMs: 50 } });
    const answer = await exchange(fixture.port, get(server.port));
    expect(answer).toStartWith("HTTP/1.1 504 ");
    expect(answer).toContain("did not answer in time");
  });

  test("closes without an answer is 502", async () => {
    using server = rawServer({ data: (socket) => void socket.end() });
    using fixture = proxyUnder(LOOPBACK);
    expect(await exchange(fixture.port, get(server.port))).toStartWith("HTTP/1.1 502 ");
  });

  test("resets the connection is 502, and in the middle cuts the client off", async () => {
    using server = rawServer({
      data: (socket, text) => {
        if (text.includes("/middle")) {
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
          setTimeout(() => socket.terminate(), 20);
        } else socket.terminate();
      },
    });
    using fixture = proxyUnder(LOOPBACK);
    expect(await exchange(fixture.port, get(server.port))).toStartWith("HTTP/1.1 502 ");
    const client = await RawClient.to(fixture.port);
    client.send(get(server.port, "/middle"));
    await client.until(({ isClosed }) => isClosed);
    expect(client.heard).toEndWith("half");
    expect(fixture.records.at(-1)).toMatchObject({ error: "the answer ended early" });
  });

  test("trickles its answer is heard byte for byte", async () => {
    using server = rawServer({
      data: async (socket) => {
        for (const character of HELLO) {
          socket.write(character);
          await Bun.sleep(0);
        }
      },
    });
    using fixture = proxyUnder(LOOPBACK);
    expect(await exchange(fixture.port, get(server.port))).toEndWith("\r\n\r\nhello");
  });

  test("answers before it has heard everything is believed, and the connection ends", async () => {
    using server = rawServer({
      data: (socket) => void socket.write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"),
    });
    using fixture = proxyUnder(LOOPBACK);
    const answer = await exchange(
      fixture.port,
      `POST http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n` +
        `${AUTH}Content-Length: 999\r\n\r\nabc`,
    );
    expect(answer).toStartWith("HTTP/1.1 413 Too Large\r\n");
    expect(answer).toContain("Connection: close\r\n");
  });
});

describe("clients that", () => {
  test("send half a head are cut off in time", async () => {
    using fixture = proxyUnder(LOOPBACK, { limits: { headMs: 60 } });
    const client = await RawClient.to(fixture.port);
    client.send("GET http://127.0.0.1/ HTTP/1.1\r\nHost:");
    await client.until(({ isClosed }) => isClosed);
    expect(client.heard).toBe("");
    const silent = await RawClient.to(fixture.port);
    await silent.until(({ hasEnded }) => hasEnded);
    expect(fixture.proxy.connections()).toBe(0);
  });

  test("are too many are told so, and those before them are served", async () => {
    using server = answering(HELLO);
    using fixture = proxyUnder(LOOPBACK, { limits: { connectionsMax: 3 } });
    const first = await Promise.all([1, 2, 3].map(() => RawClient.to(fixture.port)));
    const late = await RawClient.to(fixture.port);
    expect(await late.untilClosed()).toStartWith("HTTP/1.1 503 ");
    for (const client of first) {
      client.send(get(server.port));
      expect(await client.untilClosed()).toEndWith("hello");
    }
  });

  test("go away in the middle leave nothing behind", async () => {
    using server = rawServer({});
    using fixture = proxyUnder(LOOPBACK);
    for (const text of [get(server.port), connect(server.port), "GET ht"]) {
      const client = await RawClient.to(fixture.port);
      client.send(text);
      while (fixture.proxy.connections() === 0) await Bun.sleep(1);
      await Bun.sleep(10);
      client.close();
    }
    while (fixture.proxy.connections() + server.connections() > 0) await Bun.sleep(5);
    expect(fixture.failures).toEqual([]);
  });

  test("send thousands of requests at once are answered each", async () => {
    using fixture = proxyUnder(LOOPBACK);
    const client = await RawClient.to(fixture.port);
    client.send("GET http://a.example/ HTTP/1.1\r\nHost: x\r\n\r\n".repeat(5000));
    await client.until(({ heard }) => heard.split("HTTP/1.1 407 ").length > 5000);
    client.close();
    expect(fixture.failures).toEqual([]);
  });

  test("flood it with nonsense do not keep others from being served", async () => {
    using server = answering(HELLO);
    using fixture = proxyUnder(LOOPBACK);
    const nonsense = [
      "\0\0\0\0",
      "GET\r\n\r\n",
      "A".repeat(70_000),
      "GET / HTTP/1.1\r\n\r\n",
      "\n",
    ];
    for (let round = 0; round < 10; round++) {
      const bad = Array.from({ length: 100 }, async (_, index) => {
        const client = await RawClient.to(fixture.port);
        client.send(nonsense[index % nonsense.length] ?? "");
        if (index % 5 === 0) client.close();
        else if (index % 5 < 4) await client.untilClosed();
        client.close();
      });
      const good = exchange(fixture.port, get(server.port));
      await Promise.all(bad);
      expect(await good).toEndWith("hello");
    }
    expect(fixture.failures).toEqual([]);
  }, 30_000);

  test("open 1,000 tunnels at once are all served, each with its own bytes", async () => {
    using server = rawServer({
      data: (socket, text) => void socket.write(text),
      end: (socket) => void socket.end(),
    });
    using fixture = proxyUnder(LOOPBACK);
    const clients = await Promise.all(
      Array.from({ length: 1000 }, async () => {
        const client = await RawClient.to(fixture.port);
        client.send(connect(server.port));
        await client.untilHeard("established\r\n\r\n");
        client.heard = "";
        return client;
      }),
    );
    expect(fixture.proxy.connections()).toBe(1000);
    await Promise.all(
      clients.map(async (client, index) => {
        const text = `tunnel ${index} `.repeat(50);
        client.send(text);
        await client.until(({ heard }) => heard.length >= text.length);
        expect(client.heard).toBe(text);
        client.finish();
        await client.untilClosed();
      }),
    );
    while (fixture.proxy.connections() > 0) await Bun.sleep(5);
    expect(fixture.records.filter(({ event }) => event === "net-end")).toHaveLength(1000);
  }, 30_000);
});

test("random transfers through tunnels lose no byte, however both sides end", async () => {
  let state = 7;
  const next = (below: number): number => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state % below;
  };
  for (let round = 0; round < 100; round++) {
    const up = "u".repeat(1 + next(300_000));
    const down = "d".repeat(1 + next(300_000));
    const queue = { left: down };
    const feed = (socket: Socket<undefined>): void => {
      const written = Math.max(0, socket.write(queue.left));
      queue.left = queue.left.slice(written);
      if (queue.left === "") socket.shutdown();
    };
    let heard = 0;
    const server = Bun.listen<undefined>({
      hostname: "127.0.0.1",
      port: 0,
      allowHalfOpen: true,
      socket: {
        open: (socket) => feed(socket),
        drain: (socket) => {
          if (queue.left !== "") feed(socket);
        },
        data: (_, bytes) => {
          heard += bytes.length;
        },
        end: () => {},
        error: () => {},
      },
    });
    using fixture = proxyUnder(LOOPBACK);
    const client = await RawClient.to(fixture.port);
    client.send(connect(server.port));
    client.send(up);
    while (client.isSending) await Bun.sleep(0);
    client.finish();
    await client.until(({ hasEnded }) => hasEnded);
    while (heard < up.length) await Bun.sleep(0);
    client.close();
    server.stop(true);
    expect([heard, client.heard.length]).toEqual([
      up.length,
      down.length + "HTTP/1.1 200 Connection established\r\n\r\n".length,
    ]);
  }
}, 60_000);

/** A port that was free a moment ago. */
function unusedPort(): number {
  const server = rawServer({});
  const { port } = server;
  server[Symbol.dispose]();
  return port;
}
