import { describe, expect, test } from "bun:test";
import { BodyFramer } from "../../src/proxy/body-framer.ts";
import { findHeadEnd, parseRequestHead, parseResponseHead } from "../../src/proxy/http-head.ts";
import { AUTH, exchange, HELLO, proxyUnder, RawClient, rawServer } from "./proxy-fixture.ts";

const LOOPBACK = 'allowed_hosts = ["127.0.0.1"]';

/** Every one has, or had, two readings in some pair of servers. `U` is the URL, `A` the token. */
const AMBIGUOUS: readonly (readonly [what: string, request: string])[] = [
  [
    "Content-Length with Transfer-Encoding",
    "POST U HTTP/1.1\r\nHost: x\r\nAContent-Length: 4\r\n" +
      "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  [
    "Transfer-Encoding with Content-Length",
    "POST U HTTP/1.1\r\nHost: x\r\nATransfer-Encoding: chunked\r\n" +
      "Content-Length: 4\r\n\r\n0\r\n\r\n",
  ],
  [
    "two Content-Lengths",
    "POST U HTTP/1.1\r\nHost: x\r\nAContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
  ],
  [
    "two equal Content-Lengths",
    "POST U HTTP/1.1\r\nHost: x\r\nAContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
  ],
  ["a list of Content-Lengths", "POST U HTTP/1.1\r\nHost: x\r\nAContent-Length: 4, 4\r\n\r\nabcd"],
  ["a signed Content-Length", "POST U HTTP/1.1\r\nHost: x\r\nAContent-Length: +4\r\n\r\nabcd"],
  ["a negative Content-Length", "POST U HTTP/1.1\r\nHost: x\r\nAContent-Length: -1\r\n\r\n"],
  [
    "a hexadecimal Content-Length",
    "POST U HTTP/1.1\r\nHost: x\r\nAContent-Length: 0x4\r\n\r\nabcd",
  ],
  [
    "a blank in the Content-Length",
    "POST U HTTP/1.1\r\nHost: x\r\nAContent-Length: 4 4\r\n\r\nabcd",
  ],
  [
    "a huge Content-Length",
    "POST U HTTP/1.1\r\nHost: x\r\nAContent-Length: 18446744073709551620\r\n\r\nabcd",
  ],
  ["an empty Content-Length", "POST U HTTP/1.1\r\nHost: x\r\nAContent-Length: \r\n\r\n"],
  [
    "two Transfer-Encodings",
    "POST U HTTP/1.1\r\nHost: x\r\nATransfer-Encoding: chunked\r\n" +
      "Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
  ],
  [
    "a list of Transfer-Encodings",
    "POST U HTTP/1.1\r\nHost: x\r\nATransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
  ],
  [
    "Transfer-Encoding: xchunked",
    "POST U HTTP/1.1\r\nHost: x\r\nATransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
  ],
  [
    "a tab in Transfer-Encoding",
    "POST U HTTP/1.1\r\nHost: x\r\nATransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
  ],
  [
    "Transfer-Encoding in HTTP/1.0",
    "POST U HTTP/1.0\r\nHost: x\r\nATransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  [
    "a blank before the colon",
    "POST U HTTP/1.1\r\nHost: x\r\nATransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
  ],
  ["a tab before the colon", "GET U HTTP/1.1\r\nHost\t: x\r\nA\r\n"],
  ["a header without a name", "GET U HTTP/1.1\r\nHost: x\r\nA: x\r\n\r\n"],
  ["a header without a colon", "GET U HTTP/1.1\r\nHost: x\r\nAX-Own\r\n\r\n"],
  ["a folded header", "GET U HTTP/1.1\r\nHost: x\r\nAX-Own: a\r\n b\r\n\r\n"],
  ["a header folded with a tab", "GET U HTTP/1.1\r\nHost: x\r\nAX-Own: a\r\n\tb\r\n\r\n"],
  ["a blank before the first header", "GET U HTTP/1.1\r\n Host: x\r\nA\r\n"],
  ["lines that end in LF", "GET U HTTP/1.1\nHost: x\n\n"],
  ["one line that ends in LF", "GET U HTTP/1.1\r\nHost: x\r\nAX: y\nX-Two: z\r\n\r\n"],
  ["CR alone in a header", "GET U HTTP/1.1\r\nHost: x\r\nAX: y\rZ: w\r\n\r\n"],
  ["NUL in a header", "GET U HTTP/1.1\r\nHost: x\r\nAX: y\0z\r\n\r\n"],
  ["two Hosts", "GET U HTTP/1.1\r\nHost: x\r\nHost: y\r\nA\r\n"],
  ["no Host", "GET U HTTP/1.1\r\nA\r\n"],
  ["two blanks in the request line", "GET  U HTTP/1.1\r\nHost: x\r\nA\r\n"],
  ["a blank behind the request line", "GET U HTTP/1.1 \r\nHost: x\r\nA\r\n"],
  ["a tab in the request line", "GET\tU HTTP/1.1\r\nHost: x\r\nA\r\n"],
  ["a blank in the target", "GET U/a b HTTP/1.1\r\nHost: x\r\nA\r\n"],
  ["bytes above ASCII in the target", "GET U\xe9 HTTP/1.1\r\nHost: x\r\nA\r\n"],
  ["no version", "GET U\r\nHost: x\r\nA\r\n"],
  ["HTTP/2.0", "GET U HTTP/2.0\r\nHost: x\r\nA\r\n"],
  ["HTTP/1.10", "GET U HTTP/1.10\r\nHost: x\r\nA\r\n"],
  ["http/1.1", "GET U http/1.1\r\nHost: x\r\nA\r\n"],
  ["a bad method", "GE(T U HTTP/1.1\r\nHost: x\r\nA\r\n"],
  ["an empty line first", "\r\nGET U HTTP/1.1\r\nHost: x\r\nA\r\n"],
  ["a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\r\n\r\n"],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  [
    "a CONNECT with a body",
    "CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\nAContent-Length: 4\r\n\r\nabcd",
  ],
];

test.each(AMBIGUOUS)("%s is refused with 400, and nothing of it is forwarded", async (_, text) => {
  using server = rawServer({ data: (socket) => void socket.write(HELLO) });
  using fixture = proxyUnder(LOOPBACK);
  const url = `http://127.0.0.1:${server.port}/`;
  const request = text.replace("U", url).replace(/A(?=[A-Z:\r])/, AUTH);
  expect(await exchange(fixture.port, request)).toStartWith("HTTP/1.1 400 Bad Request: faraday: ");
  expect(server.received).toEqual([]);
  expect(fixture.verdicts()).toEqual(["deny builtin:bad-request"]);
});

test("their plain form is forwarded", async () => {
  using server = rawServer({ data: (socket) => void socket.write(HELLO) });
  using fixture = proxyUnder(LOOPBACK);
  const url = `http://127.0.0.1:${server.port}/`;
  const head = `POST ${url} HTTP/1.1\r\nHost: x\r\n${AUTH}Connection: close\r\n`;
  for (const rest of [
    "Content-Length: 4\r\n\r\nabcd",
    "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ]) {
    expect(await exchange(fixture.port, head + rest)).toStartWith("HTTP/1.1 200 ");
  }
});

test("a head that is too large is refused, and one of 60 KB is not", async () => {
  using server = rawServer({
    data: (socket, _, all) => void (all.endsWith("\r\n\r\n") && socket.write(HELLO)),
  });
  using fixture = proxyUnder(LOOPBACK);
  const head = (bytes: number): string =>
    `GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n${AUTH}Connection: close\r\n` +
    `${`X: ${"y".repeat(1000)}\r\n`.repeat(Math.floor(bytes / 1005))}\r\n`;
  expect(await exchange(fixture.port, head(60_000))).toStartWith("HTTP/1.1 200 ");
  expect(await exchange(fixture.port, head(100_000))).toStartWith("HTTP/1.1 400 ");
  const fields = "A: b\r\n".repeat(300);
  const many = `GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;
  expect(await exchange(fixture.port, many)).toContain("too many headers");
});

describe("chunks", () => {
  test.each([
    ["g\r\n", "no hexadecimal digit"],
    ["\r\n", "no size"],
    ["5;ext=1\r\nhello\r\n0\r\n\r\n", "an extension"],
    [" 5\r\nhello\r\n0\r\n\r\n", "a blank before the size"],
    ["5 \r\nhello\r\n0\r\n\r\n", "a blank behind the size"],
    ["0x5\r\nhello\r\n0\r\n\r\n", "a prefix"],
    ["+5\r\nhello\r\n0\r\n\r\n", "a sign"],
    ["000000005\r\nhello\r\n0\r\n\r\n", "too many digits"],
    ["ffffffffff\r\n", "a size that wraps around"],
    ["5\nhello\r\n0\r\n\r\n", "LF behind the size"],
    ["5\r\nhello\n0\r\n\r\n", "LF behind the data"],
    ["5\r\nhelloX\r\n0\r\n\r\n", "more data than said"],
    ["5\r\nhello\r\n0\r\nX\r\n\r\n", "a trailer that is no header"],
    ["5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n", "a trailer that frames"],
    ["5\r\nhello\r\n0\r\nX: y\n\r\n", "a trailer that ends in LF"],
  ])("%j has %s: the body ends there, and the request with it", async (body) => {
    const framer = new BodyFramer({ kind: "chunked" });
    framer.take(Buffer.from(body, "latin1"));
    expect(framer.state).toBe("bad");
    using server = rawServer({});
    using fixture = proxyUnder(LOOPBACK);
    const answer = await exchange(
      fixture.port,
      `POST http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n${AUTH}` +
        `Transfer-Encoding: chunked\r\n\r\n${body}` +
        `GET http://127.0.0.1:${server.port}/smuggled HTTP/1.1\r\n\r\n`,
    );
    expect(answer).toStartWith("HTTP/1.1 400 ");
    expect(server.received.join("")).not.toContain("smuggled");
    expect(server.received.join("")).not.toContain("0\r\n\r\n");
  });

  test("end at the same byte however they are cut", () => {
    const body = "5\r\nhello\r\n1a\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\nX-A: b\r\nX-C: d\r\n\r\n";
    const bytes = Buffer.from(`${body}GET / HTTP/1.1\r\n`);
    for (let seed = 1; seed <= 500; seed++) {
      const framer = new BodyFramer({ kind: "chunked" });
      let taken = 0;
      let state = seed;
      while (taken < bytes.length && framer.state === "more") {
        state = (state * 1103515245 + 12345) % 2147483648;
        const part = bytes.subarray(taken, taken + 1 + (state % 7));
        taken += framer.take(part);
      }
      expect([framer.state, taken]).toEqual(["done", body.length]);
    }
  });
});

test("random bytes never crash the parsers, and never frame two ways", () => {
  const alphabet = [
    "GET",
    " ",
    "/",
    "HTTP/1.1",
    "\r\n",
    "\n",
    "\r",
    ":",
    "Host",
    "Content-Length",
    "5",
    "chunked",
    "Transfer-Encoding",
    "\0",
    "\xff",
    ",",
    ";",
    "\t",
    "x",
  ];
  let state = 42;
  const next = (): number => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state;
  };
  let accepted = 0;
  for (let round = 0; round < 20_000; round++) {
    let text = round % 2 === 0 ? "GET / HTTP/1.1\r\nHost: x\r\n" : "";
    for (let i = next() % 24; i > 0; i--) text += alphabet[next() % alphabet.length];
    text += "\r\n\r\n";
    const end = findHeadEnd(Buffer.from(text, "latin1"), 0);
    if (!end.ok || end.value === "more") continue;
    const head = parseRequestHead(text.slice(0, end.value));
    parseResponseHead(text.slice(0, end.value), "GET");
    if (!head.ok) continue;
    accepted++;
    const names = head.value.fields.map(([name]) => name.toLowerCase());
    const framing = names.filter(
      (name) => name === "content-length" || name === "transfer-encoding",
    );
    expect(framing.length).toBeLessThanOrEqual(1);
  }
  expect(accepted).toBeGreaterThan(100);
});

test("a head is found at the same byte however it is cut", async () => {
  using server = rawServer({
    data: (socket, _, all) => void (all.endsWith("\r\n\r\n") && socket.write(HELLO)),
  });
  using fixture = proxyUnder(LOOPBACK);
  const client = await RawClient.to(fixture.port);
  const head = `GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n${AUTH}\r\n`;
  for (const character of head) {
    client.send(character);
    await Bun.sleep(0);
  }
  await client.untilHeard("hello");
  client.close();
  expect(server.received).toHaveLength(1);
});

describe("an answer", () => {
  test("whose Content-Length is spelled 00 is over with its head", async () => {
    using server = rawServer({
      data: (socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 00\r\n\r\n"),
    });
    using fixture = proxyUnder(LOOPBACK);
    const client = await RawClient.to(fixture.port);
    const request = `GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n${AUTH}\r\n`;
    client.send(request + request);
    await client.until(({ heard }) => heard.split("HTTP/1.1 200 ").length === 3);
    client.close();
  });

  test.each([
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX : y\r\n\r\n",
    "HTTP/1.1 200 OK\nContent-Length: 5\n\n",
    "HTTP/9 200 OK\r\n\r\n",
    "HTTP/1.1 101 Switching\r\n\r\n",
    "hello there\r\n\r\n",
  ])("of %j is refused with 502", async (answer) => {
    using server = rawServer({ data: (socket) => void socket.write(answer) });
    using fixture = proxyUnder(LOOPBACK);
    const request = `GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n${AUTH}\r\n`;
    const heard = await exchange(fixture.port, request);
    expect(heard).toStartWith("HTTP/1.1 502 Bad Gateway: faraday: 127.0.0.1:");
  });
});
