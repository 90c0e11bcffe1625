import { describe, expect, test } from "bun:test";
import { addressClass, parseAddress } from "../../src/policy/address-class.ts";
import { canonicalTarget, NetworkJudge } from "../../src/policy/network-judge.ts";
import { parsed } from "./policy-fixture.ts";

function judgeOf(lines: string): NetworkJudge {
  const { network } = parsed(`[network]\n${lines}\n`).policy;
  if (network === null) throw new Error("no network");
  return new NetworkJudge(network);
}

/** The verdict on a host with one address, which is what a resolver would say. */
function verdict(lines: string, spelling: string, address?: string, port = 443): string {
  const judge = judgeOf(lines);
  const host = canonicalTarget(spelling);
  if (host === null) return "no host";
  const target = { host, port };
  const before = judge.judgeHost(target);
  const found = address ?? (/^[0-9.]+$|^\[/.test(host) ? host.replace(/[[\]]/g, "") : "8.8.8.8");
  if (before.action === "deny") return `${before.action} ${before.ruleId}`;
  const after = judge.judgeAddress(target, found, before);
  return `${after.action} ${after.ruleId}`;
}

const ALLOW = 'allowed_hosts = ["api.openai.com", "*.github.com"]';
const DENY = 'denied_hosts = ["*.doubleclick.net", "*.facebook.com"]';
const BOTH = `
allowed_hosts = ["*.github.com", "api.openai.com"]
denied_hosts = ["gist.github.com"]`;

describe("the lists", () => {
  test.each([
    [ALLOW, "api.openai.com", "allow allowed_hosts:api.openai.com"],
    [ALLOW, "API.OpenAI.com", "allow allowed_hosts:api.openai.com"],
    [ALLOW, "api.openai.com.", "allow allowed_hosts:api.openai.com"],
    [ALLOW, "x.api.openai.com", "deny allowed_hosts"],
    [ALLOW, "openai.com", "deny allowed_hosts"],
    [ALLOW, "api.openai.com.evil.example", "deny allowed_hosts"],
    [ALLOW, "api.github.com", "allow allowed_hosts:*.github.com"],
    [ALLOW, "a.b.github.com", "allow allowed_hosts:*.github.com"],
    [ALLOW, "github.com", "deny allowed_hosts"],
    [ALLOW, "evilgithub.com", "deny allowed_hosts"],
    [ALLOW, "8.8.8.8", "deny allowed_hosts"],
    [DENY, "example.org", "allow default"],
    [DENY, "8.8.8.8", "allow default"],
    [DENY, "ads.doubleclick.net", "deny denied_hosts:*.doubleclick.net"],
    [DENY, "doubleclick.net", "allow default"],
    [DENY, "WWW.FACEBOOK.COM.", "deny denied_hosts:*.facebook.com"],
    [BOTH, "api.github.com", "allow allowed_hosts:*.github.com"],
    [BOTH, "gist.github.com", "deny denied_hosts:gist.github.com"],
    [BOTH, "GIST.github.com.", "deny denied_hosts:gist.github.com"],
    [BOTH, "x.gist.github.com", "allow allowed_hosts:*.github.com"],
    [
      'allowed_hosts = ["münchen.example"]',
      "xn--mnchen-3ya.example",
      "allow allowed_hosts:münchen.example",
    ],
    ['denied_hosts = ["8.8.8.0/24"]', "8.8.8.8", "deny denied_hosts:8.8.8.0/24"],
    ['denied_hosts = ["8.8.8.0/24"]', "0x08080808", "deny denied_hosts:8.8.8.0/24"],
    ['denied_hosts = ["8.8.8.0/24"]', "[::ffff:8.8.8.8]", "deny denied_hosts:8.8.8.0/24"],
    ['denied_hosts = ["8.8.8.0/24"]', "9.9.9.9", "allow default"],
  ])("%s: %s → %s", (lines, host, expected) => {
    expect(verdict(lines, host)).toBe(expected);
  });

  test.each([
    ['allowed_hosts = ["a.example:8443"]', 8443, "allow allowed_hosts:a.example:8443"],
    ['allowed_hosts = ["a.example:8443"]', 443, "deny allowed_hosts"],
    ['denied_hosts = ["a.example:25"]', 25, "deny denied_hosts:a.example:25"],
    ['denied_hosts = ["a.example:25"]', 443, "allow default"],
  ])("%s at port %d → %s", (lines, port, expected) => {
    expect(verdict(lines, "a.example", undefined, port)).toBe(expected);
  });

  test("a denied range holds for every name that leads into it", () => {
    const lines = 'denied_hosts = ["8.8.8.0/24"]';
    expect(verdict(lines, "dns.example", "8.8.8.8")).toBe("deny denied_hosts:8.8.8.0/24");
    expect(verdict(lines, "dns.example", "9.9.9.9")).toBe("allow default");
  });

  test("an allowed range lets through the names that lead into it, and no others", () => {
    const lines = 'allowed_hosts = ["10.0.0.0/8"]';
    expect(verdict(lines, "db.corp.example", "10.1.2.3")).toBe("allow allowed_hosts:10.0.0.0/8");
    expect(verdict(lines, "db.corp.example", "8.8.8.8")).toBe("deny allowed_hosts");
    expect(verdict(lines, "10.1.2.3")).toBe("allow allowed_hosts:10.0.0.0/8");
    expect(verdict(lines, "11.1.2.3")).toBe("deny allowed_hosts");
  });
});

describe("hosts of cloud metadata", () => {
  test.each([
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::169.254.169.254]",
    "[2002:a9fe:a9fe::]",
    "[fd00:ec2::254]",
    "168.63.129.16",
    "100.100.100.200",
    "metadata.google.internal",
    "METADATA.google.internal.",
    "metadata.azure.internal",
    "metadata",
  ])("%s is never reached", (host) => {
    for (const lines of [
      "",
      'allowed_hosts = ["0.0.0.0/0", "::/0", "*.internal", "*.google.internal"]',
    ]) {
      expect(verdict(lines, host)).toBe("deny builtin:metadata");
    }
  });

  test("nor is a name that leads there", () => {
    const lines = 'allowed_hosts = ["rebind.example", "0.0.0.0/0"]';
    expect(verdict(lines, "rebind.example", "169.254.169.254")).toBe("deny builtin:metadata");
    expect(verdict(lines, "rebind.example", "8.8.8.8")).toBe("allow allowed_hosts:rebind.example");
  });
});

describe("addresses that no list opens", () => {
  test.each([
    ["169.254.1.1", "link-local"],
    ["[fe80::1]", "link-local"],
    ["0.0.0.0", "unspecified"],
    ["0", "unspecified"],
    ["[::]", "unspecified"],
    ["224.0.0.1", "multicast"],
    ["[ff02::1]", "multicast"],
    ["255.255.255.255", "reserved"],
    ["240.0.0.1", "reserved"],
    ["192.0.2.1", "reserved"],
    ["[2001:db8::1]", "reserved"],
    ["[4000::1]", "reserved"],
  ])("%s is %s", (host, kind) => {
    for (const lines of ["", 'allowed_hosts = ["0.0.0.0/0", "::/0"]']) {
      expect(verdict(lines, host)).toBe(`deny builtin:${kind}-address`);
    }
  });
});

describe("loopback and private addresses", () => {
  test.each([
    ["127.0.0.1", "loopback"],
    ["127.1", "loopback"],
    ["2130706433", "loopback"],
    ["0x7f.1", "loopback"],
    ["0177.0.0.1", "loopback"],
    ["[::1]", "loopback"],
    ["[::ffff:7f00:1]", "loopback"],
    ["[::127.0.0.1]", "loopback"],
    ["[64:ff9b::7f00:1]", "loopback"],
    ["[2002:7f00:1::]", "loopback"],
    ["[2001:0:808:808::80ff:fefe]", "loopback"],
    ["10.0.0.1", "private"],
    ["172.16.0.1", "private"],
    ["192.168.0.1", "private"],
    ["100.64.0.1", "private"],
    ["198.18.0.1", "private"],
    ["[fc00::1]", "private"],
    ["[fec0::1]", "private"],
  ])("%s is %s, and refused unless it is listed", (host, kind) => {
    expect(verdict("", host)).toBe(`deny builtin:${kind}-address`);
    expect(verdict('allowed_hosts = ["0.0.0.0/0", "::/0"]', host)).toStartWith("allow ");
  });

  test.each([
    ['allowed_hosts = ["localhost"]', "localhost", "127.0.0.1", "allow allowed_hosts:localhost"],
    ['allowed_hosts = ["db"]', "db", "10.0.0.5", "allow allowed_hosts:db"],
    [
      'allowed_hosts = ["git.internal"]',
      "git.internal",
      "10.0.0.5",
      "allow allowed_hosts:git.internal",
    ],
    ['allowed_hosts = ["*.internal"]', "git.internal", "10.0.0.5", "deny builtin:private-address"],
    ['allowed_hosts = ["a.example"]', "a.example", "10.0.0.5", "deny builtin:private-address"],
    ['allowed_hosts = ["a.example"]', "a.example", "127.0.0.1", "deny builtin:loopback-address"],
    [
      'allowed_hosts = ["a.example", "10.0.0.5"]',
      "a.example",
      "10.0.0.5",
      "allow allowed_hosts:a.example",
    ],
    [
      'allowed_hosts = ["a.example", "10.0.0.5:80"]',
      "a.example",
      "10.0.0.5",
      "deny builtin:private-address",
    ],
    ["", "a.example", "10.0.0.5", "deny builtin:private-address"],
    ["allowed_local_ports = [443]", "localhost", "127.0.0.1", "allow default"],
    ["allowed_local_ports = [80]", "localhost", "127.0.0.1", "deny builtin:loopback-address"],
  ])("%s: %s at %s → %s", (lines, host, address, expected) => {
    expect(verdict(lines, host, address)).toBe(expected);
  });
});

test.each([
  "a..b",
  "ex%61mple.com",
  "[fe80::1%25eth0]",
  "-a.com",
  "a b",
  "",
  "\u2460.example",
  "a.1",
])("%j is no host", (spelling) => {
  expect(canonicalTarget(spelling)).toBeNull();
});

test("a public address is public in every wrapping", () => {
  for (const text of ["8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"]) {
    const address = parseAddress(text);
    expect(address === null ? null : addressClass(address)).toBe("public");
  }
});

test("a refusal names the line that would allow it, and the place of the one that denies", () => {
  const judge = judgeOf(BOTH);
  expect(judge.judgeHost({ host: "evil.example", port: 443 })).toMatchObject({
    permit: 'allowed_hosts = ["evil.example"]',
  });
  expect(judge.judgeHost({ host: "gist.github.com", port: 443 })).toMatchObject({
    reason: 'gist.github.com is denied by "gist.github.com" in denied_hosts (p.toml:4)',
    permit: null,
  });
});
