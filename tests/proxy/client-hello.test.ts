import { describe, expect, test } from "bun:test";
import { readClientHello } from "../../src/proxy/client-hello.ts";
import { AUTH, proxyUnder, RawClient, rawServer } from "./proxy-fixture.ts";

/** What a real TLS client sends first, to whom it says so. */
async function realHello(serverName: string | null): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  using server = rawServer({ data: (_, text) => resolve(Buffer.from(text, "latin1")) });
  const words = ["openssl", "s_client", "-connect", `127.0.0.1:${server.port}`];
  const name = serverName === null ? ["-noservername"] : ["-servername", serverName];
  const child = Bun.spawn([...words, ...name], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const hello = await promise;
  child.kill();
  await child.exited;
  return hello;
}

/** The same handshake, cut into records of this many bytes. */
function inRecords(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

const hello = await realHello("api.example");
const nameless = await realHello(null);

describe("readClientHello()", () => {
  test("finds the name, or that there is none", () => {
    expect(readClientHello(hello)).toEqual({ kind: "hello", name: "api.example" });
    expect(readClientHello(nameless)).toEqual({ kind: "hello", name: null });
  });

  test("waits for all of it, wherever it is cut", () => {
    for (let end = 1; end < hello.length; end++) {
      expect(readClientHello(hello.subarray(0, end))).toEqual({ kind: "more" });
    }
  });

  test.each([1, 2, 3, 5, 40, 100])("reads it from records of %d bytes", (size) => {
    const cut = inRecords(hello, size);
    expect(readClientHello(cut)).toEqual({ kind: "hello", name: "api.example" });
    expect(readClientHello(cut.subarray(0, cut.length - 1))).toEqual({ kind: "more" });
  });

  test.each([
    ["plain HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
    ["SSH", Buffer.from("SSH-2.0-x\r\n")],
    ["another record", Buffer.from([23, 3, 3, 0, 1, 0])],
    ["another handshake", Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])],
    ["an empty record", Buffer.from([22, 3, 1, 0, 0])],
    ["a record that is too long", Buffer.from([22, 3, 1, 0x50, 0])],
    ["a hello that ends in the middle", Buffer.from([22, 3, 1, 0, 6, 1, 0, 0, 2, 3, 3])],
    ["a hello that is too long", Buffer.from([22, 3, 1, 0, 4, 1, 0xff, 0, 0])],
  ])("%s is no hello", (_, bytes) => {
    expect(readClientHello(bytes)).toEqual({ kind: "not-tls" });
  });

  test("takes no longer for thousands of records", () => {
    const start = [1, 0, 0xf0, 0];
    const records = Array.from({ length: 9000 }, (_, at) => [22, 3, 1, 0, 1, start[at] ?? 0]);
    const beganMs = performance.now();
    expect(readClientHello(Buffer.from(records.flat()))).toEqual({ kind: "more" });
    expect(performance.now() - beganMs).toBeLessThan(200);
  });

  test("a changed byte never throws, and never makes the name another's", () => {
    for (let at = 0; at < hello.length; at++) {
      for (const value of [0, 1, 255]) {
        const changed = Buffer.from(hello);
        changed[at] = value;
        const reading = readClientHello(changed);
        if (reading.kind !== "hello" || reading.name === null) continue;
        expect(reading.name).toHaveLength("api.example".length);
      }
    }
  });
});

describe("a tunnel to port 443", () => {
  const lines = 'allowed_hosts = ["localhost", "127.0.0.9", "127.0.0.1"]';
  const names = { localhost: ["127.0.0.9"] };
  const tunnel = async (port: number, host: string): Promise<RawClient> => {
    const client = await RawClient.to(port);
    client.send(`CONNECT ${host}:443 HTTP/1.1\r\nHost: x\r\n${AUTH}\r\n`);
    return client;
  };
  test.each([
    ["another name", "localhost", hello, "the TLS handshake is for api.example"],
    ["no name", "localhost", nameless, "the TLS handshake names no host"],
    ["no TLS", "localhost", Buffer.from("GET / HTTP/1.1\r\n"), "no TLS handshake"],
    ["a name for an address", "127.0.0.9", hello, "the TLS handshake is for api.example"],
  ])("with %s is cut", async (_, host, bytes, why) => {
    using server = on443();
    using fixture = proxyUnder(lines, { names });
    const client = await tunnel(fixture.port, host);
    await client.untilHeard("established\r\n\r\n");
    client.heard = "";
    client.send(bytes);
    // access_denied, which is all that a TLS client understands.
    expect(await client.untilClosed()).toBe("\x15\x03\x03\x00\x02\x02\x31");
    expect(server.received.join("")).toBe("");
    expect(fixture.records).toMatchObject([
      { event: "net", action: "allow" },
      { event: "net", action: "deny", rule_id: "builtin:sni" },
      { event: "net-end", sent: 0, received: 0 },
    ]);
    expect(JSON.stringify(fixture.records)).toContain(why);
  });

  test.each([
    ["its name", "localhost", "localhost"],
    ["its name in capitals", "localhost", "LOCALHOST"],
    ["no name for an address", "127.0.0.9", null],
  ])("with %s is opened, however the handshake is cut", async (_, host, name) => {
    const right = await realHello(name);
    using server = on443();
    using fixture = proxyUnder(lines, { names });
    const client = await tunnel(fixture.port, host);
    await client.untilHeard("established\r\n\r\n");
    for (let at = 0; at < right.length; at += 50) {
      client.send(right.subarray(at, at + 50));
      await Bun.sleep(0);
    }
    await client.untilHeard("welcome");
    client.close();
    expect(server.received[0]).toBe(right.toString("latin1"));
  });

  test("ends with a client that ended in the middle of its handshake", async () => {
    using _ = on443();
    using fixture = proxyUnder(lines, { names });
    for (const pauseMs of [0, 50]) {
      const client = await tunnel(fixture.port, "localhost");
      client.send(hello.subarray(0, 20));
      await Bun.sleep(pauseMs);
      client.finish();
      await client.until(({ hasEnded, isClosed }) => hasEnded || isClosed);
      client.close();
    }
    while (fixture.proxy.connections() > 0) await Bun.sleep(1);
  });

  test("is not looked at with check_sni = false", async () => {
    using server = on443();
    using fixture = proxyUnder(`${lines}\ncheck_sni = false`, { names });
    const client = await tunnel(fixture.port, "localhost");
    client.send("anything");
    await client.untilHeard("welcome");
    client.close();
    expect(server.received).toEqual(["anything"]);
  });
});

/** Port 443 of an address of loopback that nobody else uses. */
function on443() {
  const received: string[] = [];
  const server = Bun.listen<undefined>({
    hostname: "127.0.0.9",
    port: 443,
    socket: {
      data: (socket, bytes) => {
        received.push((received.pop() ?? "") + bytes.toString("latin1"));
        socket.write("welcome");
      },
    },
  });
  return { received, [Symbol.dispose]: () => server.stop(true) };
}
