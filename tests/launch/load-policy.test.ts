import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { BUILTIN_POLICIES } from "../../src/launch/builtin-policies.ts";
import { loadPolicy } from "../../src/launch/load-policy.ts";

const POLICIES = resolve(import.meta.dir, "../../policies");
const context = {
  env: (name: string) => (name === "HOME" ? "/home/ann" : undefined),
  home: "/home/ann",
};

const work = mkdtempSync(join(tmpdir(), "faraday-load-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

function write(name: string, text: string | Uint8Array): string {
  const path = join(work, name);
  mkdirSync(resolve(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const rule = (id: string) => `[[rule]]\nid = "${id}"\naction = "deny"\nexe = "/bin/${id}"\n`;

function codes(reference: string): readonly string[] {
  const loaded = loadPolicy(reference, context);
  return loaded.ok ? [] : loaded.error.map(({ code }) => code);
}

describe("the policies inside faraday", () => {
  const files = readdirSync(POLICIES).filter((file) => file.endsWith(".toml"));
  const names = files.map((file) => file.replace(/\.toml$/, ""));

  test("are those of the folder, to the byte", () => {
    expect(Object.keys(BUILTIN_POLICIES).sort()).toEqual(names.sort());
    for (const name of names) {
      const file = readFileSync(join(POLICIES, `${name}.toml`), "utf8");
      expect(BUILTIN_POLICIES[name]).toBe(file);
    }
  });

  test.each(names)("builtin:%s loads; its examples were judged when it was built", (name) => {
    const loaded = loadPolicy(`builtin:${name}`, context);
    expect(loaded.ok ? null : loaded.error).toBeNull();
    expect(BUILTIN_POLICIES[name]).toContain("[[test]]");
  });
});

test("loadPolicy(null) loads the default", () => {
  const loaded = loadPolicy(null, context);
  expect(loaded.ok && loaded.value.path).toBe("builtin:default");
});

test("loadPolicy() hashes the bytes of the file, a byte order mark too", () => {
  const text = `\ufeff${rule("a")}`;
  const loaded = loadPolicy(write("bom.toml", text), context);
  const sha256 = new Bun.CryptoHasher("sha256").update(text).digest("hex");
  expect(loaded.ok && loaded.value.sha256).toBe(sha256);
});

test("loadPolicy() puts a file's own rules before those of its bases", () => {
  write("lib/base.toml", rule("base"));
  const path = write("top.toml", `extends = ["./lib/base.toml"]\n${rule("top")}`);
  const loaded = loadPolicy(path, context);
  expect(loaded.ok && loaded.value.policy.rules.map(({ id }) => id)).toEqual(["top", "base"]);
  expect(loaded.ok && loaded.value.bases.map((base) => base.path)).toEqual([
    join(work, "lib/base.toml"),
  ]);
});

test("loadPolicy() reads a base that two bases share once", () => {
  write("shared.toml", rule("shared"));
  write("left.toml", `extends = ["shared.toml"]\n${rule("left")}`);
  write("right.toml", `extends = ["./././shared.toml"]\n${rule("right")}`);
  const path = write("diamond.toml", `extends = ["left.toml", "right.toml"]\n`);
  const loaded = loadPolicy(path, context);
  expect(loaded.ok ? null : loaded.error).toBeNull();
  expect(loaded.ok && loaded.value.bases).toHaveLength(3);
});

test("loadPolicy() does not read without end", () => {
  for (let i = 0; i < 70; i++) write(`many/${i}.toml`, rule(`r${i}`));
  const list = (count: number) =>
    `extends = [${Array.from({ length: count }, (_, i) => `"${i}.toml"`).join(", ")}]\n`;
  expect(codes(write("many/64.most.toml", list(64)))).toEqual([]);
  expect(codes(write("many/65.most.toml", list(65)))).toEqual(["extends-missing"]);
});

test.each([
  { because: "missing", path: "/no/such/policy.toml", code: "policy-not-found" },
  { because: "below a file", path: "/etc/passwd/policy.toml", code: "policy-not-found" },
  { because: "a directory", path: "/", code: "policy-is-directory" },
  { because: "endless", path: "/dev/zero", code: "policy-too-large" },
  { because: "a path with a NUL", path: "/tmp/a\0b", code: "policy-unreadable" },
  { because: "a name that is too long", path: `/${"a".repeat(300)}`, code: "policy-unreadable" },
  { because: "no builtin", path: "builtin:constructor", code: "unknown-builtin" },
])("loadPolicy() answers $code for a policy that is $because", ({ path, code }) => {
  expect(codes(path)).toEqual([code]);
});

test("a policy that is not UTF-8 names the line", () => {
  const path = write("latin1.toml", Uint8Array.from([0x23, 0x0a, 0x23, 0xe9, 0x0a]));
  const loaded = loadPolicy(path, context);
  expect(loaded.ok ? null : loaded.error[0]?.message).toEndWith("is not valid UTF-8 (line 2)");
});
