import { describe, expect, test } from "bun:test";
import { FS_RIGHTS } from "../../ffi/abi/landlock.ts";
import { rightNames, rightsAt, seal, trySeal, usesAt } from "./seal-fixture.ts";

const DISK = {
  "/work/src/a.py": "file",
  "/work/build": "dir",
  "/data/notes.txt": "file",
  "/usr/bin/tool": "file",
  "/etc/passwd": "file",
  "/dev/null": "file",
  "/dev/urandom": "file",
  "/dev/pts": "dir",
  "/proc": "dir",
  "/lib": "-> /usr/lib",
  "/usr/lib": "dir",
} as const;

describe("what a grant gives", () => {
  test.each([
    { key: "read_globs", uses: "rx" },
    { key: "write_globs", uses: "w" },
    { key: "allow_globs", uses: "rxw" },
    { key: "exec_globs", uses: "rx" },
  ])("$key gives $uses", ({ key, uses }) => {
    expect(usesAt(seal(`${key} = ["/work/**"]`, DISK), "/work/src/a.py")).toBe(uses);
    expect(usesAt(seal(`${key} = ["/work/**"]`, DISK), "/workshop")).toBe("");
  });

  test("writing a directory is making, removing and truncating in it, but no devices", () => {
    expect(rightsAt(seal('write_globs = ["/work/**"]', DISK), "/work/src")).toEqual([
      "write_file",
      "remove_dir",
      "remove_file",
      "make_dir",
      "make_reg",
      "make_sock",
      "make_fifo",
      "make_sym",
      "refer",
      "truncate",
      "ioctl_dev",
    ]);
  });

  test("a single file has only the rights that the kernel takes for files", () => {
    const only = seal('allow_globs = ["/work/src/a.py"]', DISK);
    expect(rightsAt(only, "/work/src/a.py")).toEqual([
      "execute",
      "write_file",
      "read_file",
      "truncate",
      "ioctl_dev",
    ]);
    expect(rightsAt(only, "/work/src")).toEqual([]);
  });

  test("two grants for one path add up in one rule", () => {
    const { landlock } = seal('read_globs = ["/work"]\nwrite_globs = ["/work/**"]', DISK);
    expect(landlock?.grants).toHaveLength(1);
  });

  test("relative globs start from the directory that faraday was started in", () => {
    const here = seal('allow_globs = ["."]', DISK, { cwd: "/work/src" });
    expect(usesAt(here, "/work/src/a.py")).toBe("rxw");
    expect(usesAt(here, "/work/build")).toBe("");
  });

  test("bytes of a path that are not UTF-8 reach the kernel as they are", () => {
    const disk = { "/work/\udcff": "dir" };
    const { landlock } = seal('read_globs = ["/work/**"]\ndeny_globs = ["/work/x"]', disk);
    expect(landlock?.grants.map(({ path }) => path)).toContain("/work/\xff");
  });
});

describe("every Landlock ABI", () => {
  const newest = Math.max(...FS_RIGHTS.map(({ sinceAbi }) => sinceAbi));

  test("without Landlock nothing is enforced, and the plan says so", () => {
    const none = seal('allow_globs = ["/work"]', DISK, { abi: 0 });
    expect(none.landlock).toBeNull();
    expect(none.state.state).toBe("not");
    expect(none.state.missing).toHaveLength(1);
  });

  test.each(Array.from({ length: newest + 1 }, (_, index) => index + 1))(
    "ABI %d is used in full, and nothing that it does not know",
    (abi) => {
      const { landlock, state } = seal('allow_globs = ["/work"]', DISK, { abi });
      const known = FS_RIGHTS.filter(({ sinceAbi }) => sinceAbi <= abi).map(({ name }) => name);
      expect(rightNames(landlock?.handledFs ?? 0)).toEqual(known);
      for (const grant of landlock?.grants ?? []) {
        expect(known).toEqual(expect.arrayContaining(rightNames(grant.access)));
      }
      expect(landlock?.scoped).toBe(abi >= 6 ? 3 : 0);
      expect(state.state).toBe("enforced");
    },
  );

  test("a newer kernel has fewer limits, and never none: stat is never hidden", () => {
    const counts = Array.from({ length: newest }, (_, index) => index + 1).map(
      (abi) => seal('allow_globs = ["/work"]', DISK, { abi }).state.limits.length,
    );
    expect(counts).toEqual(counts.toSorted((a, b) => b - a));
    expect(counts[0]).toBeGreaterThan(counts.at(-1) ?? 0);
    expect(counts.at(-1)).toBeGreaterThan(0);
  });
});

describe("what a grant comes to is told", () => {
  test.each([
    { glob: "/work/**", code: null },
    { glob: "/data/notes.txt", code: null },
    { glob: "/work/{src,build}/**", code: null },
    { glob: "/work/**/*.py", code: "widened-grant" },
    { glob: "/work/s*", code: "widened-grant" },
    { glob: "/nowhere/**", code: "missing-grant" },
    { glob: "/lib", code: "linked-grant" },
  ])("$glob: $code", ({ glob, code }) => {
    const { warnings } = seal(`read_globs = ["${glob}"]`, DISK);
    expect(warnings.map((each) => each.code)).toEqual(code === null ? [] : [code]);
  });

  test("a widened glob grants its longest fixed prefix", () => {
    const wide = seal('read_globs = ["/work/s*/**"]', DISK);
    expect(usesAt(wide, "/work/build/x")).toBe("rx");
    expect(wide.warnings[0]?.span?.line).toBe(3);
  });

  test("a link grants what it points to", () => {
    const linked = seal('read_globs = ["/lib"]', DISK);
    expect(linked.landlock?.grants.map(({ path }) => path)).toEqual(["/usr/lib"]);
    expect(linked.warnings[0]?.message).toContain("/usr/lib is granted");
  });

  test("what may be written is told for the exec rules, bootstrap devices apart", () => {
    const { writable } = seal('allow_globs = ["/work"]\nread_globs = ["/data"]', DISK, {
      bootstrap: true,
    });
    expect(writable).toEqual(["/work"]);
  });
});

describe("bootstrap grants", () => {
  const sealed = seal("", DISK, { bootstrap: true });

  test.each([
    { path: "/usr/bin/tool", uses: "rx" },
    { path: "/etc/passwd", uses: "r" },
    { path: "/proc/7/status", uses: "r" },
    { path: "/dev/null", uses: "rw" },
    { path: "/dev/pts/3", uses: "rw" },
    { path: "/dev/urandom", uses: "r" },
    { path: "/etc/shadow", uses: "" },
    { path: "/work/src/a.py", uses: "" },
  ])("$path: $uses", ({ path, uses }) => {
    expect(usesAt(sealed, path)).toBe(uses);
  });

  test("terminals can be controlled", () => {
    expect(rightsAt(sealed, "/dev/pts/3")).toContain("ioctl_dev");
  });

  test("no_bootstrap_reads leaves nothing", () => {
    expect(seal("", DISK).landlock?.grants).toEqual([]);
  });
});

describe("devices", () => {
  const disk = { ...DISK, "/dev/sda": "file" };

  test("are not part of a grant of everything: the disk would hold every hole", () => {
    const all = seal('allow_globs = ["/"]', disk);
    expect(usesAt(all, "/dev/sda")).toBe("");
    expect(usesAt(all, "/data/notes.txt")).toBe("rxw");
  });

  test("are granted by name, and those of the bootstrap stay", () => {
    expect(usesAt(seal('read_globs = ["/dev/sda"]', disk), "/dev/sda")).toBe("rx");
    expect(usesAt(seal('read_globs = ["/dev"]', disk), "/dev/sda")).toBe("rx");
    const all = seal('read_globs = ["/"]', disk, { bootstrap: true });
    expect(usesAt(all, "/dev/null")).toBe("rw");
  });
});

describe("kernel settings", () => {
  const disk = { ...DISK, "/proc/sys/kernel/core_pattern": "file", "/sys/power/state": "file" };

  test("are read with a grant of everything, and not written", () => {
    const all = seal('allow_globs = ["/"]', disk);
    expect(usesAt(all, "/proc/sys/kernel/core_pattern")).toBe("rx");
    expect(usesAt(all, "/sys/power/state")).toBe("rx");
    expect(usesAt(all, "/data/notes.txt")).toBe("rxw");
  });

  test("are written where a grant names them", () => {
    const some = seal('allow_globs = ["/sys/power", "/proc/sys"]', disk);
    expect(usesAt(some, "/proc/sys/kernel/core_pattern")).toBe("rxw");
    expect(usesAt(some, "/sys/power/state")).toBe("rxw");
  });
});

describe("noexec", () => {
  const table = 'read_globs = ["/"]\nallow_globs = ["/work"]\nnoexec = true\n';

  test.each([
    { path: "/work/src/a.py", uses: "rw", because: "what can be written cannot be started" },
    { path: "/usr/bin/tool", uses: "rx", because: "what cannot be written can" },
  ])("$path: $uses: $because", ({ path, uses }) => {
    expect(usesAt(seal(table, DISK), path)).toBe(uses);
  });

  test("exec_globs makes an exception", () => {
    const some = seal(`${table}exec_globs = ["/work/build"]`, DISK);
    expect(usesAt(some, "/work/build/x")).toBe("rxw");
    expect(usesAt(some, "/work/src/a.py")).toBe("rw");
  });

  test("without it a writable tree can be started from", () => {
    const plain = seal(table.replace("noexec = true", ""), DISK);
    expect(usesAt(plain, "/work/src/a.py")).toBe("rxw");
  });
});

test("a grant that cannot be made is an error, not a smaller seal", () => {
  const disk = Object.fromEntries(
    Array.from({ length: 20_001 }, (_, index) => [`/big/f${index}`, "file"]),
  );
  const result = trySeal('read_globs = ["/big"]\ndeny_globs = ["/big/f0"]', disk);
  expect(result.ok).toBe(false);
});
