import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exchange, proxyUnder, TOKEN } from "./proxy-fixture.ts";
import { makeAuthority } from "./test-authority.ts";

const SECRET = "real:secret/key";
const REQUEST =
  `GET /svc/x HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\n` +
  "Connection: close\r\n\r\n";

test("a secret is not sent to a server whose certificate nobody vouches for", async () => {
  const directory = mkdtempSync(join(tmpdir(), "faraday-route-"));
  const { cert, key } = makeAuthority(directory, ["localhost"]);
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { cert: Bun.file(cert), key: Bun.file(key) },
    fetch: ({ url }) => {
      asked.push(url);
      return new Response("hello");
    },
  });
  const lines = `[network.routes.svc]
upstream = "https://localhost:${server.port}"
credential_key = "svc"`;
  // At the second address nobody listens, which says less about why it failed.
  using fixture = proxyUnder(lines, {
    secrets: { svc: SECRET },
    names: { localhost: ["127.0.0.1", "127.0.0.9"] },
  });
  const answer = await exchange(fixture.port, REQUEST);
  expect(answer).toMatch(/^HTTP\/1\.1 502 Bad Gateway: faraday: localhost:\d+: TLS: /);
  expect(asked).toEqual([]);
  await server.stop(true);
  rmSync(directory, { recursive: true });
});
