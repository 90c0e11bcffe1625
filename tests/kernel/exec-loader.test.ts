import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { Workplace } from "./faraday-run.ts";
import {
  allowBut,
  compile,
  compileBareMarker,
  compileMarker,
  denyBut,
  exe,
  LOADER,
} from "./test-programs.ts";

const place = new Workplace();
const marker = place.at("marker");
const denied = place.at("denied");
const policy = allowBut(exe(denied));

beforeAll(async () => {
  await compile(place, "allowed", `#include <stdio.h>\nint main(void) { puts("allowed ran"); }`);
  await compileMarker(place, "denied", marker);
  symlinkSync("denied", place.at("denied-link"));
  linkSync(denied, place.at("denied-hard"));
  symlinkSync(LOADER, place.at("loader-link"));
});
afterAll(() => place[Symbol.dispose]());

describe("a loader started by hand is judged as the program that it loads", () => {
  test.each<{ readonly words: readonly string[] }>([
    { words: [LOADER, "@"] },
    { words: [LOADER, "--library-path", "/lib", "@"] },
    { words: [LOADER, "--argv0", "other", "@"] },
    { words: [LOADER, "--inhibit-cache", "--inhibit-rpath", "x", "--glibc-hwcaps-mask", "y", "@"] },
    { words: [LOADER, "--preload", "", "@"] },
    { words: ["./loader-link", "@"] },
    { words: [`/proc/self/root${LOADER}`, "@"] },
  ])("$words", async ({ words }) => {
    const starting = (name: string): string[] =>
      words.map((word) => (word === "@" ? `./${name}` : word));
    expect((await place.bare(starting("denied"))).stdout).toStartWith("denied ran");
    rmSync(marker);
    for (const name of ["denied", "denied-link", "denied-hard"]) {
      const bad = await place.faraday(starting(name), { policy });
      expect([name, bad.exit, bad.stdout]).toEqual([name, 126, ""]);
    }
    expect(existsSync(marker)).toBe(false);
    const good = await place.faraday(starting("allowed"), { policy });
    expect([good.exit, good.stdout]).toEqual([0, "allowed ran\n"]);
  });

  test("a hard link of the loader is the loader", async () => {
    const link = place.at("loader-hard");
    try {
      linkSync(realpathSync(LOADER), link);
    } catch {
      // Another file system, or a kernel that protects hard links: there is nothing to try.
      return;
    }
    expect((await place.faraday([link, "./denied"], { policy })).exit).toBe(126);
    expect((await place.faraday([link, "./allowed"], { policy })).exit).toBe(0);
  });

  test("a name without a slash, which the loader would search for, is denied", async () => {
    for (const words of [
      ["--library-path", ".", "denied"],
      ["allowed", "--library-path", "."],
    ]) {
      expect((await place.faraday([LOADER, ...words], { policy })).exit).toBe(126);
    }
  });

  test("options that start nothing are the loader's own", async () => {
    const bare = await place.bare([LOADER, "--version"]);
    const kept = await place.faraday([LOADER, "--version"], { policy });
    expect([kept.exit, kept.stdout]).toEqual([bare.exit, bare.stdout]);
  });

  test("under default deny the loader lends no program its permission", async () => {
    const rule = exe(LOADER, realpathSync(LOADER), place.at("allowed"));
    const rules = denyBut(rule);
    expect((await place.faraday([LOADER, "./allowed"], { policy: rules })).exit).toBe(0);
    expect((await place.faraday([LOADER, "./denied-hard"], { policy: rules })).exit).toBe(126);
    expect(existsSync(marker)).toBe(false);
  });
});

describe("the ELF interpreter of a program must be allowed", () => {
  const build = (name: string, interpreter: string): Promise<string> =>
    compile(place, name, "int main(void) { return 0; }", [`-Wl,--dynamic-linker=${interpreter}`]);

  const evil = place.at("static-denied");
  const rules = allowBut(exe(evil));

  test("a denied program named as PT_INTERP does not run", async () => {
    await compileBareMarker(place, "static-denied", marker);
    const program = await build("through-interpreter", evil);
    await place.bare([program]);
    expect(existsSync(marker)).toBe(true);
    rmSync(marker);
    const bad = await place.faraday([program], { policy: allowBut(exe(evil)) });
    expect(bad.exit).not.toBe(0);
    expect(existsSync(marker)).toBe(false);
    expect(bad.records).toContainEqual(
      expect.objectContaining({ event: "exec-mismatch", action: "deny", rule_id: "r1" }),
    );
    await place.faraday([program], { policy: allowBut(exe("/nothing")) });
    expect(existsSync(marker)).toBe(true);
    rmSync(marker);
  });

  test("nor if its name is too long for a page of /proc/pid/maps", async () => {
    const directory = `${place.path}/${"d".repeat(240)}${`/${"d".repeat(240)}`.repeat(14)}`;
    mkdirSync(directory, { recursive: true });
    linkSync(evil, `${directory}/hard`);
    const program = await build("with-long-name", `${directory}/hard`);
    await place.bare([program]);
    expect(existsSync(marker)).toBe(true);
    rmSync(marker);
    expect((await place.faraday([program], { policy: rules })).exit).not.toBe(0);
    expect(existsSync(marker)).toBe(false);
  });

  test("nor if /proc/pid/maps shows both by one name", async () => {
    linkSync(evil, place.at("two\\012lines"));
    const program = await build("two-lines", place.at("two\\012lines"));
    renameSync(program, place.at("two\nlines"));
    await place.bare([place.at("two\nlines")]);
    expect(existsSync(marker)).toBe(true);
    rmSync(marker);
    const bad = await place.faraday([place.at("two\nlines")], { policy: rules });
    expect(bad.exit).not.toBe(0);
    expect(existsSync(marker)).toBe(false);
  });

  test("nor if its name led to the system's loader before", async () => {
    const name = LOADER.slice(LOADER.lastIndexOf("/") + 1);
    const program = await build("up-and-down", `/usr/lib/../..${place.at(name)}`);
    const swap = `${program}; ln -sf ${evil} ${name}; ${program}`;
    symlinkSync(LOADER, place.at(name));
    await place.bare(["sh", "-c", swap]);
    expect(existsSync(marker)).toBe(true);
    rmSync(marker);
    rmSync(place.at(name));
    symlinkSync(LOADER, place.at(name));
    // What changed just now is not remembered.
    await Bun.sleep(3000);
    const bad = await place.faraday(
      ["sh", "-c", `${program} && ${program} && echo good; ${swap}`],
      { policy: rules },
    );
    expect(bad.stdout).toBe("good\n");
    expect(existsSync(marker)).toBe(false);
  });

  test("a loader of the user's own is an ordinary program", async () => {
    copyFileSync(realpathSync(LOADER), place.at("own-loader"));
    const program = await build("with-own-loader", place.at("own-loader"));
    expect((await place.faraday([program], { policy })).exit).toBe(0);
    const named = allowBut(exe(place.at("own-loader")));
    expect((await place.faraday([program], { policy: named })).exit).not.toBe(0);
  });
});
