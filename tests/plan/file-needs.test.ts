import { describe, expect, test } from "bun:test";
import { type FsRight, fsRightBit } from "../../ffi/abi/landlock.ts";
import { SealReader, suggestGrant } from "../../src/plan/file-needs.ts";

const bits = (...rights: FsRight[]): number =>
  rights.reduce((sum, right) => sum | fsRightBit(right), 0);

const seal = new SealReader({
  handledFs: bits("read_file", "write_file", "make_reg"),
  grants: [
    { path: "/work", access: bits("read_file") },
    { path: "/work/in", access: bits("write_file") },
    { path: "/work/in", access: bits("make_reg") },
  ],
});

describe("SealReader adds rights up as the kernel does", () => {
  test.each([
    { path: "/work/x", rights: ["read_file"], missing: [] },
    { path: "/work/x", rights: ["read_file", "write_file"], missing: ["write_file"] },
    { path: "/work/in/deep/x", rights: ["read_file", "write_file", "make_reg"], missing: [] },
    { path: "/workshop", rights: ["read_file"], missing: ["read_file"] },
    { path: "/", rights: ["read_file"], missing: ["read_file"] },
    { path: "/etc", rights: ["truncate"], missing: [] },
  ] satisfies { path: string; rights: FsRight[]; missing: FsRight[] }[])(
    "$path for $rights: $missing",
    ({ path, rights, missing }) => {
      expect(seal.missing({ path, rights, isParent: false })).toEqual(missing);
    },
  );

  test("a grant of the root is a grant of everything", () => {
    const all = new SealReader({
      handledFs: bits("read_file"),
      grants: [{ path: "/", access: bits("read_file") }],
    });
    expect(all.missing({ path: "/a/b", rights: ["read_file"], isParent: false })).toEqual([]);
  });
});

describe("suggestGrant names the narrowest line", () => {
  test.each([
    { need: { path: "/a/b", rights: ["read_file"] }, isParent: false, line: "read_globs /a/b" },
    { need: { path: "/a/b", rights: ["write_file"] }, isParent: false, line: "write_globs /a/b" },
    {
      need: { path: "/a/b", rights: ["read_file", "write_file"] },
      isParent: false,
      line: "allow_globs /a/b",
    },
    { need: { path: "/a", rights: ["make_reg"] }, isParent: true, line: "write_globs /a/**" },
    { need: { path: "/", rights: ["make_dir"] }, isParent: true, line: "write_globs /**" },
  ] satisfies { need: { path: string; rights: FsRight[] }; isParent: boolean; line: string }[])(
    "$line",
    ({ need, isParent, line }) => {
      const { key, glob } = suggestGrant({ ...need, isParent });
      expect(`${key} ${glob}`).toBe(line);
    },
  );
});
