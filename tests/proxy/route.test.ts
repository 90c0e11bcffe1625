import { describe, expect, test } from "bun:test";
import { exchange, HELLO, proxyUnder, RawClient, rawServer, TOKEN } from "./proxy-fixture.ts";

const SECRET = "real:secret/key";

const upstream = () =>
  rawServer({
    data: (socket, _, all) => {
      if (all.includes("\r\n\r\n")) socket.write(HELLO);
    },
  });

const route = (port: number, more: string): string =>
  `[network.routes.svc]\nupstream = "http://127.0.0.1:${port}/base"\n${more}\n`;

const request = (target: string, fields = "", method = "GET"): string =>
  `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${fields}Connection: close\r\n\r\n`;

const BEARER = `Authorization: Bearer ${TOKEN}\r\n`;
const basic = (pair: string): string => `Authorization: Basic ${btoa(pair)}\r\n`;

describe("a credential", () => {
  test.each([
    ["", BEARER, "/v1/x?a=b", "GET /base/v1/x?a=b ", `Authorization: Bearer ${SECRET}\r\n`],
    [
      'inject_header = "x-api-key"',
      `x-api-key: ${TOKEN}\r\n`,
      "/v1/x",
      "GET /base/v1/x ",
      `x-api-key: ${SECRET}\r\n`,
    ],
    [
      'inject_format = "token {}"',
      BEARER,
      "/",
      "GET /base/ ",
      `Authorization: token ${SECRET}\r\n`,
    ],
    [
      'inject_mode = "basic"\ninject_format = "me:{}"',
      basic(`any:${TOKEN}`),
      "/",
      "GET /base/ ",
      `Authorization: Basic ${btoa(`me:${SECRET}`)}\r\n`,
    ],
    [
      'inject_mode = "query"\ninject_param = "key"',
      "",
      `/v1/x?a=b&key=${TOKEN}&c=d`,
      "GET /base/v1/x?a=b&c=d&key=real%3Asecret%2Fkey ",
      "",
    ],
    [
      'inject_mode = "query"\ninject_param = "key"',
      BEARER,
      "/v1/x?k%65y=mine",
      "GET /base/v1/x?key=real%3Asecret%2Fkey ",
      "",
    ],
    [
      'inject_mode = "path"\ninject_format = "/bot{}"',
      "",
      `/bot${TOKEN}/getMe?a=b`,
      "GET /base/botreal:secret%2Fkey/getMe?a=b ",
      "",
    ],
  ])("%s is put in place of the token", async (mode, fields, target, line, field) => {
    using server = upstream();
    using fixture = proxyUnder(route(server.port, `credential_key = "svc"\n${mode}`), {
      secrets: { svc: SECRET },
    });
    const answer = await exchange(fixture.port, request(`/svc${target}`, fields));
    expect(answer).toEndWith("hello");
    const [got = ""] = server.received;
    expect(got).toStartWith(line);
    expect(got).toContain(`\r\nHost: 127.0.0.1:${server.port}\r\n`);
    expect(got).toContain(field);
    expect(got).not.toContain(TOKEN);
    expect(got.match(/authorization:/gi)?.length ?? 0).toBe(field.startsWith("Auth") ? 1 : 0);
    const log = JSON.stringify(fixture.records);
    expect(log).not.toContain(TOKEN);
    expect(log).not.toContain("secret");
    expect(fixture.verdicts()).toEqual(["allow route:svc"]);
  });

  test.each([
    ["no token", "", "/svc/v1"],
    ["another token", "Authorization: Bearer wrong\r\n", "/svc/v1"],
    ["a part of the token", `Authorization: Bearer ${TOKEN.slice(1)}\r\n`, "/svc/v1"],
    ["the token in the path", "", `/svc/${TOKEN}/v1`],
  ])("is not put into a request with %s", async (_, fields, target) => {
    using server = upstream();
    using fixture = proxyUnder(route(server.port, 'credential_key = "svc"'), {
      secrets: { svc: SECRET },
    });
    expect(await exchange(fixture.port, request(target, fields))).toStartWith("HTTP/1.1 401 ");
    expect(server.received).toEqual([]);
    expect(fixture.verdicts()).toEqual(["deny builtin:token"]);
  });

  test.each([
    ['inject_mode = "query"\ninject_param = "key"', "/x?key=T", "/base/x/?key=real%3Asecret%2Fkey"],
    ['inject_mode = "query"\ninject_param = "key"', "/x?key=T", "/base/x/?key=real%3asecret%2fkey"],
    ['inject_mode = "query"\ninject_param = "key"', "/x?key=T", "/base/x/?key=real:secret/key"],
    ['inject_mode = "path"\ninject_format = "/bot{}"', "/botT/x", "/botreal:secret%2Fkey/x/"],
    ['inject_mode = "basic"\ninject_format = "me:{}"', "/x", `/?${btoa(`me:${SECRET}`)}`],
  ])("of %s does not come back in a header", async (mode, target, location) => {
    const head = `HTTP/1.1 302 Found\r\nLocation: ${location}\r\nX-Own: kept\r\n`;
    using server = rawServer({
      data: (socket) => void socket.write(`${head}Content-Length: 0\r\n\r\n`),
    });
    using fixture = proxyUnder(route(server.port, `credential_key = "svc"\n${mode}`), {
      secrets: { svc: SECRET },
    });
    const fields = target.includes("T") ? "" : BEARER;
    const answer = await exchange(
      fixture.port,
      request(`/svc${target.replace("T", TOKEN)}`, fields),
    );
    expect(answer).toStartWith("HTTP/1.1 302 Found\r\nLocation: /");
    expect(answer).toContain("hidden-by-faraday");
    expect(answer).toContain("\r\nX-Own: kept\r\n");
    expect(answer).not.toMatch(/secret|cmVhb/);
  });

  test.each(["TRACE", "TRACK", "trace"])("is not echoed by %s", async (method) => {
    using server = upstream();
    using fixture = proxyUnder(route(server.port, 'credential_key = "svc"'), {
      secrets: { svc: SECRET },
    });
    const answer = await exchange(fixture.port, request("/svc/", BEARER, method));
    expect(answer).toStartWith("HTTP/1.1 405 ");
    expect(server.received).toEqual([]);
  });
});

describe("endpoint rules", () => {
  const rules = `endpoint_rules = [
  { method = "POST", path = "/v1/chat/completions" },
  { method = "GET", path = "/v1/models" },
  { method = "*", path = "/repos/*/issues" },
  { method = "GET", path = "/api/**" },
]`;

  test.each([
    ["POST", "/v1/chat/completions", "/v1/chat/completions"],
    ["GET", "/v1/models", "/v1/models"],
    ["GET", "//v1/./x/../models?y=1", "/v1/models?y=1"],
    ["GET", "/v1/%6dodels", "/v1/models"],
    ["DELETE", "/repos/a/issues", "/repos/a/issues"],
    ["GET", "/api/a/b/c", "/api/a/b/c"],
    ["GET", "/api", "/api"],
    ["GET", "/api/caf%c3%a9%20x", "/api/caf%C3%A9%20x"],
  ])("let through %s %s, normalized", async (method, path, forwarded) => {
    using server = upstream();
    using fixture = proxyUnder(route(server.port, rules));
    const body = method === "POST" ? "Content-Length: 0\r\n" : "";
    const answer = await exchange(fixture.port, request(`/svc${path}`, BEARER + body, method));
    expect(answer).toStartWith("HTTP/1.1 200 ");
    expect(server.received[0]).toStartWith(`${method} /base${forwarded} HTTP/1.1\r\n`);
  });

  test.each([
    ["GET", "/v1/chat/completions", "403"],
    ["POST", "/v1/models", "403"],
    ["GET", "/v1/models/", "403"],
    ["GET", "/v1/models/x", "403"],
    ["GET", "/api/../v1/secret", "403"],
    ["GET", "/api/%2e%2e/v1/secret", "403"],
    ["GET", "/api/%2E./v1/secret", "403"],
    ["GET", "/repos/a/b/issues", "403"],
    ["GET", "/api/..%2fv1/secret", "400"],
    ["GET", "/api/..%5cv1/secret", "400"],
    ["GET", "/api/..;/v1/secret", "400"],
    ["GET", "/api/%252e%252e/v1", "400"],
    ["GET", "/../../etc", "400"],
    ["GET", "/api/%zz", "400"],
    ["GET", "/api/%c0%ae%c0%ae/v1", "400"],
    ["GET", "/api/%ff", "400"],
    ["GET", "/api/x%0d%0aY:%20z", "400"],
    ["GET", "/api/x%00", "400"],
    ["GET", "/api/x%7f", "400"],
  ])("refuse %s %s with %s", async (method, path, status) => {
    using server = upstream();
    using fixture = proxyUnder(route(server.port, rules));
    const answer = await exchange(fixture.port, request(`/svc${path}`, BEARER, method));
    expect(answer).toStartWith(`HTTP/1.1 ${status} `);
    expect(server.received).toEqual([]);
  });

  test.each([
    "X-HTTP-Method-Override: DELETE",
    "x-http-method: DELETE",
    "X_Method_Override: DELETE",
    "X-Original-URL: /admin",
    "X-Rewrite-URL: /admin",
  ])("do not let `%s` make another request of it", async (field) => {
    using server = upstream();
    const asked = request("/svc/api/x", `${BEARER}${field}\r\n`);
    using strict = proxyUnder(route(server.port, rules));
    expect(await exchange(strict.port, asked)).toStartWith("HTTP/1.1 403 ");
    expect(strict.verdicts()).toEqual(["deny endpoint_rules:svc"]);
    expect(server.received).toEqual([]);
    using open = proxyUnder(route(server.port, ""));
    expect(await exchange(open.port, asked)).toStartWith("HTTP/1.1 200 ");
    expect(server.received[0]).toContain(field);
  });

  test("that refuse say which rule would allow it", async () => {
    using server = upstream();
    using fixture = proxyUnder(route(server.port, rules));
    const answer = await exchange(fixture.port, request("/svc/v2", BEARER));
    expect(answer).toContain("hint: to allow it, put this below [network.routes.svc] in p.toml:\n");
    expect(answer).toContain('    endpoint_rules = [{ method = "GET", path = "/v2" }]\n');
  });
});

describe("a route", () => {
  test("may be asked for through the proxy as well", async () => {
    using server = upstream();
    using fixture = proxyUnder(route(server.port, ""));
    const target = `http://127.0.0.1:${fixture.port}/svc/x`;
    expect(await exchange(fixture.port, request(target, BEARER))).toStartWith("HTTP/1.1 200 ");
    expect(server.received[0]).toStartWith("GET /base/x HTTP/1.1\r\n");
  });

  test("that does not exist is 404", async () => {
    using fixture = proxyUnder("");
    for (const path of ["/", "/nope/x", "/svc%2f/x"]) {
      expect(await exchange(fixture.port, request(path, BEARER))).toStartWith("HTTP/1.1 404 ");
    }
  });

  test("does not open its upstream where denied_hosts names it", async () => {
    using server = upstream();
    using fixture = proxyUnder(`denied_hosts = ["127.0.0.0/8"]\n${route(server.port, "")}`);
    expect(await exchange(fixture.port, request("/svc/x", BEARER))).toStartWith("HTTP/1.1 403 ");
    expect(server.received).toEqual([]);
  });

  test("passes a redirection on and does not follow it", async () => {
    using server = rawServer({
      data: (socket) =>
        void socket.write(
          "HTTP/1.1 302 Found\r\nLocation: http://evil.example/\r\nContent-Length: 0\r\n\r\n",
        ),
    });
    using fixture = proxyUnder(route(server.port, ""));
    const answer = await exchange(fixture.port, request("/svc/x", BEARER));
    expect(answer).toStartWith("HTTP/1.1 302 Found\r\nLocation: http://evil.example/\r\n");
    expect(fixture.verdicts()).toEqual(["allow route:svc"]);
  });

  test("streams a body up and an answer down", async () => {
    using server = rawServer({
      data: (socket, text, all) => {
        if (text.includes("POST"))
          socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        if (all.endsWith("one")) socket.write("3\r\nONE\r\n");
        if (all.endsWith("onetwo")) socket.write("3\r\nTWO\r\n0\r\n\r\n");
      },
    });
    using fixture = proxyUnder(route(server.port, ""));
    const client = await RawClient.to(fixture.port);
    client.send(request("/svc/x", `${BEARER}Content-Length: 6\r\n`, "POST"));
    client.send("one");
    await client.untilHeard("ONE");
    client.send("two");
    await client.untilHeard("0\r\n\r\n");
    client.close();
  });
});
