import { expect, test } from "bun:test";
import { oneRule, request } from "./policy-fixture.ts";

function matches(action: "allow" | "deny", rule: string, argv: readonly string[]): boolean {
  return oneRule(action, rule).decide(request({ argv: ["curl", ...argv] })).ruleId === "r";
}

const list = '["good", "*.good"]';

test.each([
  { argv: ["https://good/"], allow: true, deny: true, because: "in the list" },
  { argv: ["https://a.good/"], allow: true, deny: true, because: "a subdomain" },
  { argv: ["https://good/", "http://good:1"], allow: true, deny: true, because: "both" },
  { argv: ["https://good/", "https://evil/"], allow: false, deny: false, because: "not every" },
  { argv: ["https://evil/"], allow: false, deny: false, because: "none" },
  { argv: ["good"], allow: false, deny: false, because: "no URL" },
  { argv: ["https://good@evil/"], allow: false, deny: false, because: "userinfo" },
  { argv: ["https://good\\@evil/"], allow: false, deny: true, because: "two readings" },
  { argv: ["https://good#@evil/"], allow: false, deny: true, because: "two readings" },
  { argv: ["https://good/", "http://[x/"], allow: false, deny: false, because: "unreadable" },
  { argv: ["https://good/", "http://"], allow: false, deny: true, because: "a URL of nothing" },
])("argv_host_in with $argv: $because", ({ argv, allow, deny }) => {
  expect(matches("allow", `argv_host_in = ${list}`, argv)).toBe(allow);
  expect(matches("deny", `argv_host_in = ${list}`, argv)).toBe(deny);
  // The negation is read the other way round, so that doubt denies in either.
  expect(matches("allow", `argv_host_in_not = ${list}`, argv)).toBe(!deny);
  expect(matches("deny", `argv_host_in_not = ${list}`, argv)).toBe(!allow);
});

test.each([
  { argv: ["https://good/"], allow: true, deny: true, because: "in the list" },
  { argv: ["https://evil/", "https://good/"], allow: true, deny: true, because: "one of them" },
  { argv: ["https://evil/"], allow: false, deny: false, because: "none" },
  { argv: ["good"], allow: false, deny: false, because: "no URL" },
  { argv: ["https://good\\@evil/"], allow: false, deny: true, because: "two readings" },
  { argv: ["http://[x/", "https://good/"], allow: true, deny: true, because: "one readable" },
  { argv: ["http://x ".repeat(10_001)], allow: false, deny: true, because: "too many to look at" },
])("argv_host_any with $argv: $because", ({ argv, allow, deny }) => {
  expect(matches("allow", `argv_host_any = ${list}`, argv)).toBe(allow);
  expect(matches("deny", `argv_host_any = ${list}`, argv)).toBe(deny);
  expect(matches("allow", `argv_host_any_not = ${list}`, argv)).toBe(!deny);
  expect(matches("deny", `argv_host_any_not = ${list}`, argv)).toBe(!allow);
});

test("a URL that cannot be read is in no list, and might be what an allow rules out", () => {
  const argv = ["http://[x/"];
  expect(matches("allow", `argv_host_any = ${list}`, argv)).toBe(false);
  expect(matches("deny", `argv_host_any = ${list}`, argv)).toBe(false);
  expect(matches("allow", `argv_host_any_not = ${list}`, argv)).toBe(false);
  expect(matches("deny", `argv_host_any_not = ${list}`, argv)).toBe(true);
});
