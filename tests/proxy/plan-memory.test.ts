import { describe, expect, test } from "bun:test";
import { PlanMemory } from "../../src/proxy/plan-memory.ts";
import type { RequestPlan } from "../../src/proxy/request-plan.ts";
import { AUTH, exchange, HELLO, proxyUnder, RawClient, rawServer } from "./proxy-fixture.ts";

const subject = { method: "CONNECT", host: "a.test", port: 443, path: null, route: null };
const TUNNEL: RequestPlan = { kind: "tunnel", target: { host: "a.test", port: 443 }, subject };
const REFUSED: RequestPlan = {
  kind: "refuse",
  refusal: { subject, ruleId: "builtin:token", status: 407, reason: "no token" },
};

describe("PlanMemory", () => {
  test.each([
    { plan: TUNNEL, head: "CONNECT", kept: true, because: "a tunnel is remembered" },
    { plan: REFUSED, head: "CONNECT", kept: false, because: "a refusal is not" },
    { plan: TUNNEL, head: "x".repeat(1024), kept: true, because: "a head may be long" },
    { plan: TUNNEL, head: "x".repeat(1025), kept: false, because: "but not any longer" },
  ])("$because", ({ plan, head, kept }) => {
    const memory = new PlanMemory();
    memory.keep(head, { plan, wantsMore: true });
    expect(memory.recall(head)?.plan ?? null).toBe(kept ? plan : null);
    expect(memory.recall(`${head} `)).toBeNull();
  });

  test("has an end to what it keeps", () => {
    const memory = new PlanMemory();
    for (let n = 0; n < 1_000; n++) memory.keep(`head ${n}`, { plan: TUNNEL, wantsMore: true });
    const kept = Array.from({ length: 1_000 }, (_, n) => memory.recall(`head ${n}`) !== null);
    expect(kept.filter(Boolean).length).toBeLessThanOrEqual(64);
    expect(kept[999]).toBeTrue();
  });
});

describe("a head that was seen before", () => {
  test("is judged and recorded each time", async () => {
    using server = rawServer({ data: (socket) => void socket.write(HELLO) });
    using proxy = proxyUnder('allowed_hosts = ["127.0.0.1"]');
    const head = `CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\nHost: x\r\n`;
    for (let n = 0; n < 3; n++) {
      const client = await RawClient.to(proxy.port);
      client.send(`${head}${AUTH}\r\n`);
      await client.untilHeard("200 Connection established");
      client.send("hello");
      await client.untilHeard("hello");
      client.close();
    }
    expect(proxy.verdicts()).toEqual(Array(3).fill("allow allowed_hosts:127.0.0.1"));
    const refused = await exchange(proxy.port, `${head}Connection: close\r\n\r\n`);
    expect(refused).toStartWith("HTTP/1.1 407 ");
  });
});
