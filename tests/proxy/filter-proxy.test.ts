// long: one proxy, set up once, is asked everything here.
import { describe, expect, test } from "bun:test";
import {
  AUTH,
  answering,
  exchange,
  HELLO,
  proxyUnder,
  RawClient,
  rawServer,
  TOKEN,
} from "./proxy-fixture.ts";

const LOOPBACK = 'allowed_hosts = ["127.0.0.1"]';
const get = (url: string, more = ""): string =>
  `GET ${url} HTTP/1.1\r\nHost: x\r\n${AUTH}${more}Connection: close\r\n\r\n`;
const connect = (authority: string): string =>
  `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${AUTH}\r\n`;

describe("a request for a URL", () => {
  test("goes on to its host, without what concerns the proxy alone", async () => {
    using server = answering(HELLO);
    using fixture = proxyUnder(LOOPBACK);
    const url = `http://127.0.0.1:${server.port}/a/b?c=d`;
    const answer = await exchange(
      fixture.port,
      get(url, "X-Own: 1\r\nX-Hop: 2\r\nConnection: x-hop\r\nKeep-Alive: 5\r\nTE: trailers\r\n"),
    );
    expect(answer).toStartWith("HTTP/1.1 200 OK\r\n");
    expect(answer).toEndWith("\r\n\r\nhello");
    expect(server.received).toEqual([
      `GET /a/b?c=d HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nX-Own: 1\r\n\r\n`,
    ]);
    expect(fixture.records).toMatchObject([
      {
        event: "net",
        method: "GET",
        host: "127.0.0.1",
        port: server.port,
        ip: "127.0.0.1",
        path: "/a/b",
        action: "allow",
        rule_id: "allowed_hosts:127.0.0.1",
      },
      { event: "net-end", id: 1, error: null, received: HELLO.length },
    ]);
  });

  test("has the Host of its URL, whatever it says itself", async () => {
    using server = answering(HELLO);
    using fixture = proxyUnder(LOOPBACK);
    const url = `http://127.0.0.1:${server.port}/`;
    await exchange(fixture.port, get(url).replace("Host: x", "Host: good.example"));
    expect(server.received[0]).toContain(`Host: 127.0.0.1:${server.port}\r\n`);
    expect(server.received[0]).not.toContain("good.example");
  });

  test("that is refused says what, why, and which line would allow it", async () => {
    using server = answering(HELLO);
    using fixture = proxyUnder('allowed_hosts = ["good.example"]');
    const answer = await exchange(fixture.port, get(`http://127.0.0.1:${server.port}/`));
    expect(answer).toStartWith(
      "HTTP/1.1 403 Forbidden: faraday: 127.0.0.1 is not in allowed_hosts",
    );
    expect(answer).toEndWith(
      "faraday: 127.0.0.1 is not in allowed_hosts\nrule: allowed_hosts\n" +
        "hint: to allow it, put this below [network] in p.toml:\n" +
        '    allowed_hosts = ["127.0.0.1"]\n',
    );
    expect(server.connections()).toBe(0);
    expect(fixture.verdicts()).toEqual(["deny allowed_hosts"]);
  });

  test("without the session token is told to bring it", async () => {
    using server = answering(HELLO);
    using fixture = proxyUnder(LOOPBACK);
    const url = `http://127.0.0.1:${server.port}/`;
    const wrong = AUTH.replace(btoa(`faraday:${TOKEN}`), btoa("faraday:wrong"));
    for (const auth of ["", wrong]) {
      const answer = await exchange(fixture.port, get(url).replace(AUTH, auth));
      expect(answer).toStartWith("HTTP/1.1 407 ");
      expect(answer).toContain('\r\nProxy-Authenticate: Basic realm="faraday"\r\n');
    }
    expect(server.received).toEqual([]);
    expect(await exchange(fixture.port, get(url))).toStartWith("HTTP/1.1 200 ");
  });

  test("is judged anew on a connection that is kept", async () => {
    using server = answering(HELLO);
    using fixture = proxyUnder(LOOPBACK);
    const client = await RawClient.to(fixture.port);
    const good = `GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n${AUTH}\r\n`;
    client.send(good);
    await client.untilHeard("hello");
    client.heard = "";
    client.send(good.replace("127.0.0.1", "127.0.0.2"));
    await client.untilHeard("is not in allowed_hosts\n");
    client.heard = "";
    client.send(good);
    await client.untilHeard("hello");
    client.close();
    expect(fixture.verdicts()).toEqual([
      "allow allowed_hosts:127.0.0.1",
      "deny allowed_hosts",
      "allow allowed_hosts:127.0.0.1",
    ]);
  });

  test("may be sent before the one before it is answered", async () => {
    using server = answering(HELLO);
    using fixture = proxyUnder(LOOPBACK);
    const client = await RawClient.to(fixture.port);
    const good = `GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n${AUTH}\r\n`;
    client.send(good + good.replace("127.0.0.1", "127.0.0.2") + good);
    await client.until(({ heard }) => heard.split("hello").length === 3);
    client.close();
    expect(client.heard.match(/HTTP\/1.1 \d+/g)).toEqual([
      "HTTP/1.1 200",
      "HTTP/1.1 403",
      "HTTP/1.1 200",
    ]);
  });

  test("keeps its upstream connection, and notices when that is closed", async () => {
    const seen = { connections: 0 };
    using server = rawServer({
      open: () => void seen.connections++,
      data: (socket, text) => {
        socket.write(HELLO);
        // The third request finds the connection closed, and must not suffer from it.
        if (text.includes("/second")) socket.end();
      },
    });
    using fixture = proxyUnder(LOOPBACK);
    const client = await RawClient.to(fixture.port);
    for (const path of ["first", "second", "third"]) {
      client.heard = "";
      client.send(`GET http://127.0.0.1:${server.port}/${path} HTTP/1.1\r\nHost: x\r\n${AUTH}\r\n`);
      await client.untilHeard("hello");
    }
    client.close();
    expect(seen.connections).toBe(2);
  });

  test("of HTTP/1.0 is answered and closed", async () => {
    using server = answering("HTTP/1.0 200 OK\r\n\r\nold");
    using fixture = proxyUnder(LOOPBACK);
    const url = `http://127.0.0.1:${server.port}/`;
    using closing = rawServer({
      data: (socket) => {
        socket.write("HTTP/1.0 200 OK\r\n\r\nold");
        socket.end();
      },
    });
    const answer = await exchange(
      fixture.port,
      `GET ${url.replace(String(server.port), String(closing.port))} HTTP/1.0\r\n${AUTH}\r\n`,
    );
    expect(answer).toEndWith("Connection: close\r\n\r\nold");
    expect(closing.received[0]).toStartWith("GET / HTTP/1.0\r\n");
    expect(closing.received[0]).toContain("Connection: close\r\n");
  });

  test.each([
    ["https://a.example/", "through CONNECT"],
    ["ftp://a.example/", "through CONNECT"],
    ["http://user@a.example/", "user name"],
    ["http://a.example:0/", "no valid port"],
    ["http://a.example:99999/", "no valid port"],
    ["http://ex%61mple.com/", "no valid host"],
    ["http:///", "not `host:port`"],
    ["http://a.example/#x", "neither a path nor a URL"],
    ["a.example", "neither a path nor a URL"],
    ["*", "neither a path nor a URL"],
  ])("%s is malformed: %s", async (url, why) => {
    using fixture = proxyUnder("");
    const answer = await exchange(fixture.port, get(url));
    expect(answer).toStartWith("HTTP/1.1 400 ");
    expect(answer).toContain(why);
  });
});

describe("bodies", () => {
  test.each([
    ["Content-Length: 11\r\n\r\n", "hello world"],
    ["Transfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"],
    ["Transfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n"],
  ])("with %j go up as they came", async (head, body) => {
    using server = rawServer({
      data: (socket, _, all) => {
        if (all.endsWith(body)) socket.write(HELLO);
      },
    });
    using fixture = proxyUnder(LOOPBACK);
    const client = await RawClient.to(fixture.port);
    client.send(`POST http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n${AUTH}${head}`);
    for (const character of body) {
      client.send(character);
      await Bun.sleep(0);
    }
    await client.untilHeard("hello");
    client.close();
    expect(server.received[0]?.split("\r\n\r\n").slice(1).join("\r\n\r\n")).toBe(body);
  });

  test("wait for `100 Continue`, which comes from the host and not from the proxy", async () => {
    using server = rawServer({
      data: (socket, text) => {
        if (text.includes("Expect: 100-continue")) socket.write("HTTP/1.1 100 Continue\r\n\r\n");
        if (text.endsWith("body")) socket.write(HELLO);
      },
    });
    using fixture = proxyUnder(LOOPBACK);
    const head = (host: string): string =>
      `PUT http://${host}:${server.port}/ HTTP/1.1\r\nHost: x\r\n${AUTH}` +
      "Content-Length: 4\r\nExpect: 100-continue\r\n\r\n";
    const client = await RawClient.to(fixture.port);
    client.send(head("127.0.0.1"));
    expect(await client.untilHeard("\r\n\r\n")).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    client.send("body");
    await client.untilHeard("hello");
    client.close();
    const refused = await exchange(fixture.port, head("127.0.0.2"));
    expect(refused).toStartWith("HTTP/1.1 403 ");
  });

  test("of answers come down as they are sent, in every framing", async () => {
    const parts = ["data: 1\n\n", "data: 2\n\n"];
    const { promise: goOn, resolve: go } = Promise.withResolvers<void>();
    using server = rawServer({
      data: (socket) => {
        const [first = "", second = ""] = parts;
        socket.write(
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" +
            "Transfer-Encoding: chunked\r\n\r\n" +
            `${first.length.toString(16)}\r\n${first}\r\n`,
        );
        // The second is sent only when the first has arrived.
        void goOn.then(() =>
          socket.write(`${second.length.toString(16)}\r\n${second}\r\n0\r\n\r\n`),
        );
      },
    });
    using fixture = proxyUnder(LOOPBACK);
    const client = await RawClient.to(fixture.port);
    client.send(get(`http://127.0.0.1:${server.port}/`));
    await client.untilHeard(parts[0] ?? "");
    go();
    await client.untilHeard("0\r\n\r\n");
    client.close();
    expect(client.heard).toContain(parts[1] ?? "");
  });

  test("of an answer to HEAD are not waited for", async () => {
    using server = answering("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n");
    using fixture = proxyUnder(LOOPBACK);
    const request = get(`http://127.0.0.1:${server.port}/`).replace("GET", "HEAD");
    expect(await exchange(fixture.port, request)).toContain("Content-Length: 5000\r\n");
  });
});

describe("a tunnel", () => {
  const echo = () =>
    rawServer({
      data: (socket, text) => void socket.write(text),
      end: (socket) => void socket.end(),
    });

  test("carries bytes both ways, and each half ends by itself", async () => {
    using server = rawServer({
      data: () => {},
      // Answers only once the other half has ended.
      end: (socket) => {
        socket.write("late");
        socket.end();
      },
    });
    using fixture = proxyUnder(LOOPBACK);
    const client = await RawClient.to(fixture.port);
    client.send(`${connect(`127.0.0.1:${server.port}`)}early`);
    await client.untilHeard("\r\n\r\n");
    client.finish();
    expect(await client.untilClosed()).toBe("HTTP/1.1 200 Connection established\r\n\r\nlate");
    expect(server.received).toEqual(["early"]);
    await Bun.sleep(0);
    expect(fixture.records).toMatchObject([
      { event: "net", method: "CONNECT", path: null, action: "allow" },
      { event: "net-end", sent: 5, received: 4, error: null },
    ]);
  });

  test("to a host that is not listed is refused, in the phrase as well", async () => {
    using server = echo();
    using fixture = proxyUnder('allowed_hosts = ["good.example"]');
    const client = await RawClient.to(fixture.port);
    client.send(connect(`127.0.0.1:${server.port}`));
    const [line] = (await client.untilHeard("\n\n".slice(1))).split("\r\n");
    client.close();
    expect(line).toBe("HTTP/1.1 403 Forbidden: faraday: 127.0.0.1 is not in allowed_hosts");
    expect(server.connections()).toBe(0);
  });

  test("goes to the address that was checked: the name is resolved once", async () => {
    using server = echo();
    using fixture = proxyUnder('allowed_hosts = ["db"]', { names: { db: ["127.0.0.1"] } });
    const client = await RawClient.to(fixture.port);
    client.send(`${connect(`DB.:${server.port}`)}ping`);
    await client.untilHeard("ping");
    client.close();
    expect(fixture.records[0]).toMatchObject({ host: "db", ip: "127.0.0.1" });
  });

  test.each([
    [["127.0.0.1"], "403"],
    [["8.8.8.8", "10.0.0.1"], "403"],
    [["169.254.169.254"], "403"],
    [["::ffff:127.0.0.1"], "403"],
  ])("to a listed public name that leads to %j is refused", async (addresses, status) => {
    using fixture = proxyUnder('allowed_hosts = ["rebind.example"]', {
      names: { "rebind.example": addresses },
    });
    const client = await RawClient.to(fixture.port);
    client.send(connect("rebind.example:9"));
    expect(await client.untilHeard("rule:")).toStartWith(`HTTP/1.1 ${status} `);
    client.close();
    expect(fixture.records).toHaveLength(1);
  });

  test("to a name that does not resolve is an error, not a denial", async () => {
    using fixture = proxyUnder('allowed_hosts = ["gone.example"]');
    const client = await RawClient.to(fixture.port);
    client.send(connect("gone.example:443"));
    expect(await client.untilHeard("no such name")).toStartWith("HTTP/1.1 502 ");
    client.close();
    expect(fixture.verdicts()).toEqual(["error null"]);
  });
});

test("a WebSocket is passed through, both ways", async () => {
  using server = rawServer({
    data: (socket, text) => {
      if (text.includes("Upgrade: websocket")) {
        socket.write(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n" +
            "Upgrade: websocket\r\n\r\nfirst",
        );
      } else socket.write(`echo ${text}`);
    },
  });
  using fixture = proxyUnder(LOOPBACK);
  const client = await RawClient.to(fixture.port);
  client.send(
    `GET http://127.0.0.1:${server.port}/ws HTTP/1.1\r\nHost: x\r\n${AUTH}` +
      "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n",
  );
  expect(await client.untilHeard("first")).toStartWith("HTTP/1.1 101 ");
  client.send("ping");
  await client.untilHeard("echo ping");
  client.close();
});

test("nothing passes that cannot be recorded", async () => {
  using server = answering(HELLO);
  using fixture = proxyUnder(LOOPBACK, { audit: () => false });
  const answer = await exchange(fixture.port, get(`http://127.0.0.1:${server.port}/`));
  expect(answer).toStartWith("HTTP/1.1 503 ");
  expect(answer).toContain("the audit log cannot be written");
  const client = await RawClient.to(fixture.port);
  client.send(connect(`127.0.0.1:${server.port}`));
  expect(await client.untilClosed()).toStartWith("HTTP/1.1 503 ");
  expect(server.received).toEqual([]);
});

test("no record holds the token, a query or a user name", async () => {
  using server = answering(HELLO);
  using fixture = proxyUnder(LOOPBACK);
  const url = `http://127.0.0.1:${server.port}/a/${TOKEN}?key=${TOKEN}&secret=hush`;
  await exchange(fixture.port, get(url));
  await exchange(fixture.port, get(url.replace("127.0.0.1", "127.0.0.9")));
  const log = JSON.stringify(fixture.records);
  expect(log).not.toContain(TOKEN);
  expect(log).not.toContain("hush");
  expect(log).toContain("/a/{token}");
});
