import { describe, expect, test } from "bun:test";
import { SurroundingsMap } from "../../src/plan/hole-surroundings.ts";
import { rightsAt, seal, trySeal, usesAt } from "./seal-fixture.ts";

const DISK = {
  "/home/ann/.ssh/id": "file",
  "/home/ann/.bashrc": "file",
  "/home/ann/notes": "file",
  "/home/ann/proj/.env": "file",
  "/home/ann/proj/main.py": "file",
  "/home/ann/proj/src/deep/.env": "file",
  "/home/ann/proj/src/x.py": "file",
  "/home/ann/proj/keys/a.key": "file",
  "/home/ann/proj/keys/readme": "file",
  "/etc/hosts": "file",
  "/mnt": "dir",
} as const;

describe("a hole in a tree that is read", () => {
  const sealed = seal('read_globs = ["/"]\ndeny_globs = ["~/.ssh"]', DISK);

  test.each([
    { path: "/home/ann/.ssh/id", uses: "", because: "it is in the hole" },
    { path: "/home/ann/notes", uses: "rx", because: "it stands beside the hole" },
    { path: "/etc/hosts", uses: "rx", because: "it is far from the hole" },
    { path: "/home/ann/proj/main.py", uses: "rx", because: "a tree beside the hole is whole" },
    { path: "/home/ann/new", uses: "", because: "what comes later may be anything" },
    { path: "/home/ann/.sshx", uses: "", because: "it is not there yet, too" },
  ])("$path: '$uses': $because", ({ path, uses }) => {
    expect(usesAt(sealed, path)).toBe(uses);
  });

  test("directories on the way can be listed", () => {
    expect(rightsAt(sealed, "/home/ann")).toEqual(["read_dir"]);
  });

  test("it is silent: nothing is lost that the policy promised", () => {
    expect(sealed.warnings).toEqual([]);
  });
});

describe("a hole in a tree that is written", () => {
  const sealed = seal('allow_globs = ["~/proj"]\ndeny_globs = ["~/proj/.env"]', DISK);

  test.each([
    { path: "/home/ann/proj/.env", uses: "" },
    { path: "/home/ann/proj/main.py", uses: "rxw" },
    { path: "/home/ann/proj/src/x.py", uses: "rxw" },
  ])("$path: '$uses'", ({ path, uses }) => {
    expect(usesAt(sealed, path)).toBe(uses);
  });

  test("where case does not tell names apart, what is beside it stays closed", () => {
    const table = 'allow_globs = ["~/proj"]\ndeny_globs = ["~/proj/.env"]';
    const folded = seal(table, DISK, { folding: ["/home/ann"] });
    expect(folded.warnings.map(({ code }) => code)).toEqual(["closed-directory"]);
    expect(folded.surroundings?.closed).toEqual(["/home/ann/proj"]);
    const isReached = (of: typeof sealed, path: string): boolean =>
      of.surroundings !== null && new SurroundingsMap(of.surroundings).rootOf(path) !== null;
    expect(isReached(folded, "/home/ann/proj/.ENV")).toBe(false);
    expect(isReached(sealed, "/home/ann/proj/new")).toBe(true);
    expect(usesAt(folded, "/home/ann/proj/src/new")).toBe("rxw");
  });

  test("what is made beside it is left to the supervisor, which is told of the hole", () => {
    expect(rightsAt(sealed, "/home/ann/proj")).toEqual(["read_dir"]);
    expect(rightsAt(sealed, "/home/ann/proj/src")).toContain("make_reg");
    expect(sealed.warnings).toEqual([]);
    expect(sealed.surroundings?.roots).toEqual(["/home/ann/proj"]);
    expect(sealed.surroundings?.holes).toContain("/home/ann/proj/.env");
    // A log that does not exist yet would be made there.
    expect(sealed.askedWritable).toContain("/home/ann/proj");
    expect(seal('allow_globs = ["~/proj"]', DISK).surroundings).toBeNull();
  });

  test.each([
    { because: "the kernel is too old", glob: "~/proj/.env", abi: 2 },
    { because: "what is new may match", glob: "~/proj/.e*", abi: 7 },
  ])("nothing is made beside it, and the run says so: $because", ({ glob, abi }) => {
    const closed = seal(`allow_globs = ["~/proj"]\ndeny_globs = ["${glob}"]`, DISK, { abi });
    expect(closed.warnings.map(({ code }) => code)).toEqual(["closed-directory"]);
  });

  test("a hole that does not exist yet cannot be made", () => {
    const missing = seal('allow_globs = ["~/proj"]\ndeny_globs = ["~/proj/.mcp.json"]', DISK);
    expect(rightsAt(missing, "/home/ann/proj/.mcp.json")).toEqual(["read_dir"]);
    const deep = seal('allow_globs = ["~/proj"]\ndeny_globs = ["~/proj/.a/b/c"]', DISK);
    expect(rightsAt(deep, "/home/ann/proj/.a")).toEqual(["read_dir"]);
  });

  test("deny_write_globs leaves reading", () => {
    const guarded = seal('allow_globs = ["~"]\ndeny_write_globs = ["~/.bashrc"]', DISK);
    expect(usesAt(guarded, "/home/ann/.bashrc")).toBe("rx");
    expect(usesAt(guarded, "/home/ann/notes")).toBe("rxw");
    expect(rightsAt(guarded, "/home/ann")).not.toContain("make_reg");
    expect(guarded.writable).not.toContain("/home/ann/.bashrc");
  });
});

describe("wildcards in holes", () => {
  const keys = 'deny_globs = ["~/proj/keys/*.key"]';

  test("what matches is a hole, and its directory takes nothing new", () => {
    const sealed = seal(`allow_globs = ["~/proj"]\n${keys}`, DISK);
    expect(usesAt(sealed, "/home/ann/proj/keys/a.key")).toBe("");
    expect(usesAt(sealed, "/home/ann/proj/keys/readme")).toBe("rxw");
    expect(usesAt(sealed, "/home/ann/proj/keys/b.key")).toBe("");
    expect(rightsAt(sealed, "/home/ann/proj/keys")).toEqual(["read_dir"]);
  });

  test("`**` is found anywhere in a tree that is only read", () => {
    const sealed = seal('read_globs = ["~"]\ndeny_globs = ["~/**/.env"]', DISK);
    expect(usesAt(sealed, "/home/ann/proj/.env")).toBe("");
    expect(usesAt(sealed, "/home/ann/proj/src/deep/.env")).toBe("");
    expect(usesAt(sealed, "/home/ann/proj/src/x.py")).toBe("rx");
    expect(usesAt(sealed, "/home/ann/proj/keys/new")).toBe("rx");
  });

  test.each([
    { glob: "~/**/.env", because: "it could be made anywhere" },
    { glob: "~/proj/src/**/.env", because: "below the grant, too" },
    { glob: "~/proj/a**b", because: "`**` is a part of a name" },
  ])("$glob in a tree that is written is refused: $because", ({ glob }) => {
    const result = trySeal(`allow_globs = ["~/proj"]\ndeny_globs = ["${glob}"]`, DISK);
    expect(result.ok ? [] : result.error.map(({ code }) => code)).toEqual(["hole-not-held"]);
  });

  test("x/** is x", () => {
    const sealed = seal('read_globs = ["~"]\ndeny_globs = ["~/.ssh/**"]', DISK);
    expect(usesAt(sealed, "/home/ann/.ssh/id")).toBe("");
  });

  test("a search that would not end soon is refused", () => {
    const disk = Object.fromEntries(
      Array.from({ length: 20_001 }, (_, index) => [`/big/f${index}`, "file"]),
    );
    const result = trySeal('read_globs = ["/big"]\ndeny_globs = ["/big/**/x"]', disk);
    expect(result.ok).toBe(false);
  });
});

describe("other ways to a hole", () => {
  test("a link is a hole, and so is what it points to", () => {
    const disk = { ...DISK, "/home/ann/.aws": "-> /data/aws", "/data/aws/key": "file" };
    const sealed = seal('read_globs = ["/"]\ndeny_globs = ["~/.aws"]', disk);
    expect(usesAt(sealed, "/data/aws/key")).toBe("");
    expect(usesAt(sealed, "/home/ann/notes")).toBe("rx");
    expect(rightsAt(sealed, "/home/ann")).toEqual(["read_dir"]);
  });

  test("a link above the hole is seen through", () => {
    const disk = { "/home": "-> /vol/home", "/vol/home/ann/.ssh/id": "file", "/vol/x": "file" };
    const sealed = seal('read_globs = ["/"]\ndeny_globs = ["~/.ssh"]', disk);
    expect(usesAt(sealed, "/vol/home/ann/.ssh/id")).toBe("");
    expect(usesAt(sealed, "/vol/x")).toBe("rx");
  });

  test("a second mount of the same file system is a hole as well", () => {
    const disk = { ...DISK, "/mnt/ann/.ssh/id": "file", "/mnt/ann/notes": "file" };
    const mounts = { "/home/ann/.ssh": ["/mnt/ann/.ssh"] };
    const sealed = seal('read_globs = ["/"]\ndeny_globs = ["~/.ssh"]', disk, { mounts });
    expect(usesAt(sealed, "/mnt/ann/.ssh/id")).toBe("");
    expect(usesAt(sealed, "/mnt/ann/notes")).toBe("rx");
  });

  test("a hard link is refused: its other name would be open", () => {
    const disk = { ...DISK, "/home/ann/.ssh/id": "shared" };
    const result = trySeal('read_globs = ["/"]\ndeny_globs = ["~/.ssh"]', disk);
    expect(result.ok).toBe(false);
  });

  test("a grant inside a hole grants nothing, and says so", () => {
    const sealed = seal('read_globs = ["~/.ssh/id"]\ndeny_globs = ["~/.ssh"]', DISK);
    expect(usesAt(sealed, "/home/ann/.ssh/id")).toBe("");
    expect(sealed.warnings.map(({ code }) => code)).toEqual(["swallowed-grant"]);
  });
});
