import { expect, test } from "bun:test";
import { compileGlob, parseGlob, quoteGlob } from "../../src/policy/glob-pattern.ts";
import { globRoot } from "../../src/policy/glob-root.ts";

function matches(glob: string, path: string): boolean {
  const tokens = parseGlob(glob);
  if (!tokens.ok) throw new Error(tokens.error);
  return compileGlob(tokens.value)(path);
}

test.each([
  { glob: "/usr/bin/git", yes: ["/usr/bin/git"], no: ["/usr/bin/gitk", "/usr/bin/gi", "git"] },
  { glob: "/usr/bin/*", yes: ["/usr/bin/a", "/usr/bin/.a"], no: ["/usr/bin/a/b", "/usr/bin"] },
  { glob: "/usr/**", yes: ["/usr/a", "/usr/a/b/c"], no: ["/usr", "/usrx", "/x/usr/a"] },
  { glob: "**", yes: ["/", "/a/b", "memfd:x"], no: [] },
  { glob: "/**", yes: ["/a", "/a/b"], no: ["memfd:x"] },
  { glob: "**/git", yes: ["/git", "/usr/bin/git"], no: ["/usr/bin/xgit", "/git/x", "/gitx"] },
  { glob: "**/bin/git", yes: ["/bin/git", "/usr/bin/git"], no: ["/sbin/git", "/bin/x/git"] },
  { glob: "**/py*", yes: ["/usr/bin/python3", "/py"], no: ["/py/x", "/usr/bin/cpy"] },
  { glob: "/a/**/b", yes: ["/a/b", "/a/x/b", "/a/x/y/b"], no: ["/a/xb", "/b", "/a/b/c"] },
  { glob: "/**/b", yes: ["/b", "/a/b"], no: ["b", "/ab"] },
  { glob: "/a/*/c", yes: ["/a/b/c", "/a/../c"], no: ["/a/c", "/a/b/b/c"] },
  { glob: "/a?c", yes: ["/abc", "/a😀c", "/a\udcffc"], no: ["/a/c", "/ac", "/abbc"] },
  { glob: "/a**c", yes: ["/ac", "/ab/c"], no: ["/ab/d"] },
  { glob: "/*.py", yes: ["/a.py", "/.py", "/a\nb.py"], no: ["/a.pyc", "/d/a.py"] },
  { glob: "/[a-c]", yes: ["/a", "/c"], no: ["/d", "/A", "/ab", "/"] },
  { glob: "/[!a-c]", yes: ["/d", "/-"], no: ["/a", "//"] },
  { glob: "/[^a]", yes: ["/b"], no: ["/a"] },
  { glob: "/[]a]", yes: ["/]", "/a"], no: ["/b"] },
  { glob: "/[a-]", yes: ["/a", "/-"], no: ["/b"] },
  { glob: "/a[.-0]b", yes: ["/a.b", "/a0b"], no: ["/a/b"] },
  { glob: "/a[/]b", yes: [], no: ["/a/b", "/ab"] },
  { glob: "/a[!x]b", yes: ["/ayb"], no: ["/a/b", "/axb"] },
  { glob: "/{a,b}", yes: ["/a", "/b"], no: ["/c", "/a,b", "/{a,b}"] },
  { glob: "/{a,b{c,d}}/x", yes: ["/a/x", "/bc/x", "/bd/x"], no: ["/b/x", "/a"] },
  { glob: "/{bin,usr/bin}/*", yes: ["/bin/x", "/usr/bin/x"], no: ["/usr/x", "/bin/x/y"] },
  { glob: "/x{,y}", yes: ["/x", "/xy"], no: ["/x,y"] },
  { glob: "/{a,**/b}", yes: ["/a", "/b", "/x/b"], no: ["/x/a"] },
  { glob: "/a,b}", yes: ["/a,b}"], no: ["/a"] },
  { glob: "/\\*", yes: ["/*"], no: ["/a"] },
  { glob: "/\\[a\\]", yes: ["/[a]"], no: ["/a"] },
  { glob: "/a.b+(c)|^$", yes: ["/a.b+(c)|^$"], no: ["/axb+(c)|^$"] },
  { glob: "/É*", yes: ["/É", "/Éa"], no: ["/é"] },
])("compileGlob() of $glob", ({ glob, yes, no }) => {
  for (const path of yes) expect([path, matches(glob, path)]).toEqual([path, true]);
  for (const path of no) expect([path, matches(glob, path)]).toEqual([path, false]);
});

test.each([
  { glob: "/a[b", because: "`[` is never closed" },
  { glob: "/a[]", because: "`[` is never closed" },
  { glob: "/a{b", because: "`{` is never closed" },
  { glob: "/a{b,{c}", because: "`{` is never closed" },
  { glob: "/a\\", because: "the glob ends in a lone backslash" },
  { glob: "/[z-a]", because: "the range in `[…]` runs backwards" },
  { glob: "/[[:alpha:]]", because: "classes such as `[:alpha:]` are not known; write `[a-z]`" },
  { glob: "{".repeat(9) + "}".repeat(9), because: "the braces are nested too deeply" },
  { glob: "/".repeat(5000), because: "the glob is longer than 4096 characters" },
])("parseGlob() refuses $glob", ({ glob, because }) => {
  expect(parseGlob(glob)).toEqual({ ok: false, error: because });
});

test("quoteGlob() makes any text match itself and nothing else", () => {
  const text = "/a*b?c[d]{e,f}\\g!h**";
  expect(matches(quoteGlob(text), text)).toBe(true);
  expect(matches(quoteGlob(text), "/aXbXc")).toBe(false);
  expect(matches(`${quoteGlob("/x*")}/**`, "/x*/y")).toBe(true);
  expect(matches(`${quoteGlob("/x*")}/**`, "/xx/y")).toBe(false);
});

test("globs that would make a backtracking matcher explode are matched", () => {
  const path = `/${"a".repeat(4000)}`;
  expect(matches(`/${"*a".repeat(60)}*b`, path)).toBe(false);
  expect(matches(`/${"**a".repeat(60)}**b`, path)).toBe(false);
  expect(matches(`/${"{a,a}".repeat(40)}b`, path)).toBe(false);
  expect(matches(`/${"{a,*}".repeat(40)}b`, path)).toBe(false);
});

test.each([
  { glob: "/tmp/**", path: "/tmp", kind: "subtree" },
  { glob: "/**", path: "/", kind: "subtree" },
  { glob: "/", path: "/", kind: "path" },
  { glob: "/etc/ssl/cert.pem", path: "/etc/ssl/cert.pem", kind: "path" },
  { glob: "/etc/ssl/", path: "/etc/ssl", kind: "path" },
  { glob: "/src/**/*.py", path: "/src", kind: "widened" },
  { glob: "/etc/*.conf", path: "/etc", kind: "widened" },
  { glob: "/etc/a*", path: "/etc", kind: "widened" },
  { glob: "/etc/a**", path: "/etc", kind: "widened" },
  { glob: "/etc/{a,b}/**", path: "/etc", kind: "widened" },
  { glob: "src/**", path: "src", kind: "subtree" },
  { glob: "**", path: ".", kind: "subtree" },
  { glob: "*.py", path: ".", kind: "widened" },
  { glob: ".", path: ".", kind: "path" },
  { glob: "/a\\*b/**", path: "/a*b", kind: "subtree" },
])("globRoot() of $glob is $kind $path", ({ glob, path, kind }) => {
  const tokens = parseGlob(glob);
  expect(tokens.ok && globRoot(tokens.value)).toEqual({ path, kind } as never);
});
