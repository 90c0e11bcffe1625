import { expect, test } from "bun:test";
import { parsed, place } from "./policy-fixture.ts";

const rule = (id: string, action: string, lines = ""): string =>
  `[[rule]]\nid = "${id}"\naction = "${action}"\n${lines}\n`;

function shadowed(first: string, second: string, actions = ["deny", "deny"]): boolean {
  const text = rule("a", actions[0] ?? "", first) + rule("b", actions[1] ?? "", second);
  return parsed(text).warnings.some(({ code }) => code === "shadowed-rule");
}

test.each([
  { first: "", second: 'exe = "/x"', found: true, because: "no condition matches everything" },
  { first: "", second: "", found: true, because: "the same" },
  { first: 'exe = "/x"', second: "", found: false, because: "the second is wider" },
  { first: 'exe = "/x"', second: 'exe = "/x"', found: true, because: "the same" },
  { first: 'exe = "/x"', second: 'exe = "/y"', found: false, because: "another" },
  { first: 'exe = ["/x", "/y"]', second: 'exe = "/x"', found: true, because: "a subset" },
  { first: 'exe = "/x"', second: 'exe = ["/x", "/y"]', found: false, because: "a superset" },
  { first: 'exe = "/x"', second: 'exe = "/x"\nuid = 0', found: true, because: "one key more" },
  { first: 'exe = "/x"\nuid = 0', second: 'exe = "/x"', found: false, because: "one key less" },
  { first: 'exe_not = "/x"', second: 'exe_not = "/x"', found: true, because: "negated, the same" },
  { first: 'exe_not = "/x"', second: 'exe_not = ["/x", "/y"]', found: true, because: "narrower" },
  { first: 'exe_not = ["/x", "/y"]', second: 'exe_not = "/x"', found: false, because: "wider" },
  { first: 'exe_not = "/x"', second: 'exe = "/x"', found: false, because: "the opposite" },
  { first: 'exe_basename = "x"', second: 'exe = "/a/x"', found: true, because: "a basename" },
  { first: 'exe_basename = "x"', second: 'exe = "/a/y"', found: false, because: "another one" },
  { first: 'exe_glob = "/a/*"', second: 'exe = "/a/y"', found: true, because: "a glob" },
  { first: 'exe_glob = "/a/*"', second: 'exe = ["/a/y", "/b"]', found: false, because: "not all" },
  { first: "argv_regex = 'a'", second: "argv_regex = 'a'", found: true, because: "same text" },
  { first: "argv_regex = 'a'", second: "argv_regex = 'ab'", found: false, because: "not judged" },
])("shadowed-rule is $found for $first before $second: $because", ({ first, second, found }) => {
  expect(shadowed(first, second)).toBe(found);
});

test("a general allow does not shadow rules for programs without a file", () => {
  expect(shadowed("", 'exe = "memfd:x"', ["allow", "allow"])).toBe(false);
  expect(shadowed("", 'exe = "/x (deleted)"', ["allow", "deny"])).toBe(false);
  expect(shadowed("", 'exe = "memfd:x"', ["deny", "allow"])).toBe(true);
});

test("shadowed-rule says which rule is in the way, and how far", () => {
  const same = parsed(rule("a", "deny", 'exe = "/x"') + rule("b", "allow", 'exe = "/x"'));
  expect(same.warnings).toHaveLength(1);
  expect(same.warnings.map(place)).toEqual(["shadowed-rule p.toml:6:6+3"]);
  expect(same.warnings[0]).toMatchObject({
    severity: "warning",
    message:
      'rule "b" can never match: rule "a" on line 2 matches everything that it does, ' +
      "and the first match wins",
    hint: 'move rule "b" above rule "a", or remove it',
  });
  const late = parsed(rule("a", "allow", 'exe = "/x"') + rule("b", "deny", 'exe = "/x"\nuid = 0'));
  expect(late.warnings[0]?.message).toStartWith(
    'rule "b" matches only programs under planted or second names',
  );
});

test("a base's rule that the file overrides is not worth a warning", () => {
  const bases = { x: rule("x", "deny", 'exe = "/x"') };
  const text = `extends = "x"\n${rule("a", "allow", 'exe = "/x"')}`;
  expect(parsed(text, { bases }).warnings).toEqual([]);
});

test.each([
  { lines: 'exe_basename = "git"', at: ["name-not-sealed p.toml:4:1+12"] },
  { lines: 'exe_glob = "**/git"', at: ["name-not-sealed p.toml:4:1+8"] },
  { lines: 'exe_glob = ["/usr/bin/*", "/**/git"]', at: ["name-not-sealed p.toml:4:1+8"] },
  { lines: 'parent_exe = "make"', at: ["name-not-sealed p.toml:4:1+10"] },
  { lines: 'exe = "/usr/bin/git"', at: [] },
  { lines: 'exe_glob = "/usr/bin/*"', at: [] },
  { lines: 'exe_glob = "/**"', at: [] },
  { lines: 'exe_basename = "git"\nexe_glob = "/usr/bin/*"', at: [] },
  { lines: 'exe_basename_not = "git"', at: [] },
  { lines: 'parent_exe = "/usr/bin/make"', at: [] },
])("name-not-sealed for $lines", ({ lines, at }) => {
  expect(parsed(rule("r", "allow", lines)).warnings.map(place)).toEqual([...at]);
  expect(parsed(rule("r", "deny", lines)).warnings).toEqual([]);
  expect(parsed(`${rule("r", "allow", lines)}[filesystem]\n`).warnings).toEqual([]);
});

test("name-not-sealed shows the line to write", () => {
  const [warning] = parsed(rule("r", "allow", 'exe_basename = "git"')).warnings;
  expect(warning?.hint).toBe('add a [filesystem] table, or write exe = "/usr/bin/git"');
});

test("host-in-deny: denying by argv_host_in is easily evaded", () => {
  const warned = (action: string, lines: string): string[] =>
    parsed(rule("r", action, lines)).warnings.map(place);
  expect(warned("deny", 'argv_host_in = "x"')).toEqual(["host-in-deny p.toml:4:1+12"]);
  expect(warned("deny", 'argv_host_any = "x"')).toEqual([]);
  expect(warned("deny", 'argv_host_in_not = "x"')).toEqual([]);
  expect(warned("allow", 'argv_host_in = "x"')).toEqual([]);
});
