import { expect, test } from "bun:test";
import { canonicalHost, HostList, parseHostEntry } from "../../src/policy/host-name.ts";
import { urlHosts } from "../../src/policy/url-hosts.ts";

function hosts(...argv: string[]): string[][] {
  return urlHosts(argv).urls.map((readings) => [...readings].sort());
}

test.each([
  { text: "https://x.org/", is: ["x.org"], because: "a URL" },
  { text: "--url=https://x.org/", is: ["x.org"], because: "behind an option" },
  { text: "HTTPS://X.ORG", is: ["x.org"], because: "case does not matter" },
  { text: "http://x.org:8080/", is: ["x.org"], because: "the port is no part of the host" },
  { text: "https://x.org.", is: ["x.org"], because: "the trailing dot is dropped" },
  { text: "https://x.org?a=1", is: ["x.org"], because: "a query ends it" },
  { text: "https://x.org#a", is: ["x.org"], because: "a fragment ends it" },
  { text: "git+https://x.org/r", is: ["x.org"], because: "a scheme inside a scheme" },
  { text: "curl 'https://x.org' | sh", is: ["x.org"], because: "a quote ends it" },
  { text: "see https://x.org, please", is: ["x.org"], because: "so does a comma" },
  { text: "(https://x.org)", is: ["x.org"], because: "so does a bracket" },
  { text: "https://good@evil/", is: ["evil"], because: "userinfo is not the host" },
  { text: "https://good:pw@evil:1/", is: ["evil"], because: "with a password neither" },
  { text: "https://good%40x@evil/", is: ["evil"], because: "encoded or not" },
  { text: "https://a@good@evil/", is: ["evil", "good"], because: "last @, or the first" },
  { text: "https://good\\@evil", is: ["evil", "good"], because: "a backslash is read both ways" },
  { text: "http://good#@evil", is: ["evil", "good"], because: "old curl went on behind #" },
  { text: "http://good?@evil", is: ["evil", "good"], because: "and so do others behind ?" },
  { text: "http://good @evil", is: ["evil", "good"], because: "a space may be userinfo" },
  { text: "http://good;x.evil/", is: ["good", "good;x.evil"], because: "odd characters may be" },
  { text: "https:/evil", is: ["evil"], because: "one slash is enough" },
  { text: "https:evil", is: ["evil"], because: "none is too" },
  { text: "http:////evil", is: ["evil"], because: "and four" },
  { text: "https:\\\\evil\\x", is: ["evil"], because: "a backslash is a slash" },
  { text: "ht\ntps://ev\til/", is: ["evil"], because: "tabs and newlines are dropped" },
  { text: "http://0x7f.1/", is: ["127.0.0.1"], because: "hexadecimal" },
  { text: "http://2130706433/", is: ["127.0.0.1"], because: "decimal" },
  { text: "http://0177.0.0.1/", is: ["127.0.0.1"], because: "octal" },
  { text: "http://127.1/", is: ["127.0.0.1"], because: "short" },
  { text: "http://[::1]:80/", is: ["[::1]"], because: "IPv6" },
  { text: "http://[0:0::0:1]/", is: ["[::1]"], because: "IPv6 in another spelling" },
  { text: "http://[::ffff:127.0.0.1]/", is: ["127.0.0.1"], because: "IPv4 inside IPv6" },
  { text: "https://bücher.de/", is: ["xn--bcher-kva.de"], because: "punycode" },
  { text: "https://XN--BCHER-KVA.de", is: ["xn--bcher-kva.de"], because: "punycode in capitals" },
  {
    text: "http://ｅｘａｍｐｌｅ。com/",
    is: ["example.com"],
    because: "full-width letters and dots",
  },
  { text: "https://faß.de", is: ["fass.de", "xn--fa-hia.de"], because: "two IDNA versions" },
  { text: "http://%65vil/", is: ["evil"], because: "percent-encoding" },
  { text: "http://x.org:99999/", is: ["x.org"], because: "a port that is none" },
])("urlHosts() of $text: $because", ({ text, is }) => {
  expect(hosts(text)).toEqual([[...is]]);
  expect(urlHosts([text]).unreadable).toBe(false);
});

test.each([
  { text: "x.org/path" },
  { text: "ftp://x.org" },
  { text: "git@x.org:a/b" },
  { text: "use http: or https: here" },
  { text: "http" },
  { text: "" },
])("urlHosts() finds no URL in $text", ({ text }) => {
  expect(urlHosts([text])).toEqual({ urls: [], unreadable: false, truncated: false });
});

test.each([
  { text: "http://" },
  { text: "http:///" },
  { text: "http://[::1" },
  { text: "http://1.2.3.4.5/" },
  { text: "http://a\0b/" },
  { text: "http://\udcff/" },
  { text: "http://user@/" },
  { text: `http://${"a".repeat(2000)}` },
  { text: `http://good?${"a".repeat(2000)}@evil` },
])("urlHosts() cannot read $text", ({ text }) => {
  expect(urlHosts([text]).unreadable).toBe(true);
});

test("urlHosts() finds every URL of every argument", () => {
  expect(hosts("a", "https://x/ https://y/", "--u=http://z/")).toEqual([["x"], ["y"], ["z"]]);
  expect(hosts("https://x/?next=https://y/")).toEqual([["x"], ["y"]]);
  expect(hosts("https:https://x/")).toEqual([["https"], ["x"]]);
});

test("urlHosts() stops looking at some number of URLs and says so", () => {
  expect(urlHosts(["http://a ".repeat(10_000)]).truncated).toBe(false);
  const many = urlHosts(["http://a ".repeat(10_001)]);
  expect([many.truncated, many.unreadable, many.urls.length]).toEqual([true, true, 10_000]);
});

test.each([{ unit: "http:" }, { unit: "http:a@" }, { unit: "http://a" }, { unit: "https://a@b " }])(
  "urlHosts() ends on 2 MiB of $unit",
  ({ unit }) => {
    urlHosts([unit.repeat((2 << 20) / unit.length)]);
  },
);

test.each([
  { entry: "x.org", yes: ["x.org"], no: ["a.x.org", "x.org.evil", "ax.org"] },
  { entry: "*.x.org", yes: ["a.x.org", "a.b.x.org"], no: ["x.org", "ax.org", "a.x.org.evil"] },
  { entry: "X.Org.", yes: ["x.org"], no: ["y.org"] },
  { entry: "bücher.de", yes: ["xn--bcher-kva.de"], no: ["bucher.de"] },
  { entry: "*.Bücher.de", yes: ["a.xn--bcher-kva.de"], no: ["xn--bcher-kva.de"] },
  { entry: "127.1", yes: ["127.0.0.1"], no: ["127.0.0.2"] },
  { entry: "::1", yes: ["[::1]"], no: ["[::2]"] },
  { entry: "[::1]", yes: ["[::1]"], no: [] },
])("HostList of $entry", ({ entry, yes, no }) => {
  const list = new HostList([entry]);
  for (const host of yes) expect([host, list.has(host)]).toEqual([host, true]);
  for (const host of no) expect([host, list.has(host)]).toEqual([host, false]);
});

test.each([
  { entry: "https://x.org", because: "a host has no scheme" },
  { entry: "x.org/a", because: "a host has no path" },
  { entry: "x.org:80", because: "a host has no port: every port is meant" },
  { entry: "[::1]:80", because: "a host has no port: every port is meant" },
  { entry: "a@x.org", because: "a host has no user name" },
  { entry: "a.*.org", because: "`*` stands only for whole subdomains, as in `*.example.com`" },
  { entry: "*", because: "`*` stands only for whole subdomains, as in `*.example.com`" },
  { entry: "*x.org", because: "`*` stands only for whole subdomains, as in `*.example.com`" },
  { entry: "*.", because: "this is no host name" },
  { entry: "a b", because: "this is no host name" },
  { entry: "1.2.3.4.5", because: "this is no host name" },
  { entry: "*.1.2.3.4", because: "an address has no subdomains" },
])("parseHostEntry() refuses $entry: $because", ({ entry, because }) => {
  expect(parseHostEntry(entry)).toEqual({ ok: false, error: because });
});

test("canonicalHost() does not take an empty host", () => {
  expect(canonicalHost("")).toBeNull();
  expect(canonicalHost(":80")).toBeNull();
});
