import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, linkSync, rmSync, symlinkSync } from "node:fs";
import { EXEC_CALLER_SOURCE } from "./exec-caller-source.ts";
import { actionsOf, Workplace } from "./faraday-run.ts";
import { allowBut, compile, compileMarker, exe } from "./test-programs.ts";

const place = new Workplace();
const marker = place.at("marker");
const caller = place.at("caller");
const allowed = place.at("allowed");
const denied = place.at("denied");
const policy = allowBut(exe(denied));

beforeAll(async () => {
  await compile(place, "caller", EXEC_CALLER_SOURCE, ["-pthread"]);
  await compile(place, "allowed", `#include <stdio.h>\nint main(void) { puts("allowed ran"); }`);
  await compileMarker(place, "denied", marker);
});
afterAll(() => place[Symbol.dispose]());

describe("a denied program is denied and a permitted one runs, whichever way it is started", () => {
  test.each([
    "execve",
    "dirfd",
    "dirfd-cwd",
    "empty-path",
    "empty-path-open",
    "high-proc-fd",
    "high-dev-fd",
    "nofollow",
    "thread",
    "clone-vm",
    "clone-vm-vfork",
    "clone-files",
    "posix-spawn",
  ])("%s", async (way) => {
    const good = await place.faraday([caller, way, allowed], { policy });
    expect(good.stdout).toBe("allowed ran\n");
    expect(good.exit).toBe(0);
    const bad = await place.faraday([caller, way, denied], { policy });
    expect(bad.stdout).toBe("EACCES\n");
    expect(bad.exit).toBe(1);
    expect(bad.records.filter(({ action }) => action === "deny")).toHaveLength(1);
    expect(bad.records.find(({ action }) => action === "deny")?.real_exe).toBe(denied);
    expect(existsSync(marker)).toBe(false);
    const control = await place.bare([caller, way, denied]);
    expect(control.stdout).toStartWith("denied ran");
    rmSync(marker);
  });

  test("vfork", async () => {
    expect((await place.faraday([caller, "vfork", allowed], { policy })).exit).toBe(0);
    expect((await place.faraday([caller, "vfork", denied], { policy })).exit).toBe(77);
    expect(existsSync(marker)).toBe(false);
  });
});

describe("a denied program is denied by every name that leads to it", () => {
  const names = (): readonly (readonly [name: string, path: string])[] => [
    ["symbolic link", place.at("link")],
    ["link to a link", place.at("link-to-link")],
    ["hard link", place.at("hard")],
    ["relative", "./denied"],
    ["dots", `${place.path}/../${place.path.split("/").at(-1)}/./denied`],
    ["doubled slashes", `/${place.path}///denied`],
    ["/proc/self/cwd", "/proc/self/cwd/denied"],
    ["/proc/thread-self/cwd", "/proc/thread-self/cwd/denied"],
    ["/proc/self/root", `/proc/self/root${denied}`],
    ["link to /proc/self/cwd", place.at("cwd-link/denied")],
  ];

  test("and a permitted program runs by the same kinds of name", async () => {
    symlinkSync("denied", place.at("link"));
    symlinkSync("link", place.at("link-to-link"));
    linkSync(denied, place.at("hard"));
    symlinkSync("/proc/self/cwd", place.at("cwd-link"));
    for (const [, path] of names()) {
      const bad = await place.faraday([caller, "execve", path], { policy });
      expect([path, bad.stdout]).toEqual([path, "EACCES\n"]);
      const other = path.includes("denied") ? path.replace(/denied$/, "allowed") : allowed;
      const good = await place.faraday([caller, "execve", other], { policy });
      expect([other, good.stdout]).toEqual([other, "allowed ran\n"]);
    }
    expect(existsSync(marker)).toBe(false);
  });
});

describe("errors are the kernel's own", () => {
  test.each([
    "empty-path-no-flag",
    "bad-dirfd",
    "bad-flags",
    "check-only",
    "unmapped-argv",
    "unmapped-argument",
    "unmapped-path",
    "null-path",
    "empty-string",
    "argument-too-long",
    "too-many-bytes",
  ])("%s", async (way) => {
    const bare = await place.bare([caller, way, allowed]);
    const kept = await place.faraday([caller, way, allowed], { policy });
    expect([kept.stdout, kept.exit]).toEqual([bare.stdout, bare.exit]);
  });

  test.each([
    ["a missing file", "missing"],
    ["a file in a file", "allowed/x"],
    ["a trailing slash", "allowed/"],
    ["a directory", "."],
    ["a file without the permission", "caller.c"],
    ["a dangling link", "dangling"],
    ["a link to itself", "loop"],
    ["a name that is too long", "n".repeat(300)],
    ["a path that is too long", "n/".repeat(3000)],
  ])("for %s", async (_, path) => {
    for (const link of ["dangling", "loop"]) {
      rmSync(place.at(link), { force: true });
      symlinkSync(link === "loop" ? "loop" : "nowhere", place.at(link));
    }
    const bare = await place.bare([caller, "execve", path]);
    const kept = await place.faraday([caller, "execve", path], { policy });
    expect([kept.stdout, kept.exit]).toEqual([bare.stdout, bare.exit]);
  });
});

describe("programs without a file", () => {
  test.each([
    ["memfd", 'exe_glob = "memfd:*"'],
    ["deleted", `exe_glob = "${place.path}/copy-* (deleted)"`],
  ])("%s is denied, and runs by a rule that names it", async (way, rule) => {
    const bad = await place.faraday([caller, way, allowed], { policy });
    expect(bad.stdout).toBe("EACCES\n");
    const named = `${policy}\n[[rule]]\nid = "named"\naction = "allow"\n${rule}\n`;
    const good = await place.faraday([caller, way, allowed], { policy: named });
    expect(good.stdout).toBe("allowed ran\n");
    expect((await place.bare([caller, way, allowed])).stdout).toBe("allowed ran\n");
  });

  test.each(["memfd:tool", "tool (deleted)"])(
    "a file that is merely called %s runs",
    async (name) => {
      linkSync(allowed, place.at(name));
      const good = await place.faraday([caller, "execve", place.at(name)], { policy });
      expect(good.stdout).toBe("allowed ran\n");
      expect(actionsOf(good.records, name)).toEqual(["allow"]);
    },
  );
});
