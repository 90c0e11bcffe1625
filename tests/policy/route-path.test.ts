import { expect, test } from "bun:test";
import { normalizePath, normalizePathPattern, pathMatches } from "../../src/policy/route-path.ts";

test.each([
  ["/", "/"],
  ["/v1/models", "/v1/models"],
  ["/v1/models/", "/v1/models/"],
  ["//v1///models", "/v1/models"],
  ["/v1/./models", "/v1/models"],
  ["/v1/../v2", "/v2"],
  ["/v1/x/..", "/v1/"],
  ["/v1/%2e%2E/v2", "/v2"],
  ["/%76%31/models", "/v1/models"],
  ["/a%20b", "/a%20b"],
  ["/a%c3%a9", "/a%C3%A9"],
  ["/a:b@c!$&'()*+,;=", "/a:b@c!$&'()*+,;="],
])("normalizePath(%j) is %j", (path, normal) => {
  expect(normalizePath(path)).toEqual({ ok: true, value: normal });
});

test.each([
  ["v1", "begins with a slash"],
  ["/..", "above its root"],
  ["/a/../../b", "above its root"],
  ["/a%2fb", "encoded slash"],
  ["/a%5cb", "encoded slash"],
  ["/a%00", "encoded slash, backslash or NUL"],
  ["/a\\b", "must be encoded"],
  ["/a b", "must be encoded"],
  ["/a%", "broken percent"],
  ["/a%g1", "broken percent"],
  ["/%252e%252e/b", "encoded twice"],
  ["/v1/..;/admin", "dot segment with a parameter"],
  ["/\u00e9", "must be encoded"],
])("normalizePath(%j) is refused: %s", (path, why) => {
  const result = normalizePath(path);
  expect(result.ok ? "" : result.error).toContain(why);
});

test.each([
  ["/v1/models", "/v1/models", true],
  ["/v1/models", "/v1/models/", false],
  ["/v1/models", "/v1/Models", false],
  ["/repos/*/issues", "/repos/a/issues", true],
  ["/repos/*/issues", "/repos/a/b/issues", false],
  ["/repos/*/issues", "/repos//issues", false],
  ["/repos/*", "/repos/", false],
  ["/api/**", "/api", true],
  ["/api/**", "/api/", true],
  ["/api/**", "/api/a/b", true],
  ["/api/**", "/apis", false],
  ["/**", "/", true],
  ["/**/x", "/a/b/x", true],
  ["/**/x", "/a/b/y", false],
  ["/a/**/b/**/c", "/a/1/b/2/3/c", true],
  ["/a/**/b/**/c", "/a/1/2/c", false],
])("%j against %j: %p", (pattern, path, matches) => {
  const normal = normalizePathPattern(pattern);
  expect(normal.ok).toBe(true);
  expect(pathMatches(normal.ok ? normal.value : "", path)).toBe(matches);
});

test("a pattern of many `**` takes no longer than any other", () => {
  const pattern = `${"/**/a".repeat(200)}/b`;
  expect(pathMatches(pattern, "/a".repeat(5000))).toBe(false);
});
