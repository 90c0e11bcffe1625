/** A kernel that can do less: the ABI is a parameter, so that no real run can be talked down. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadPolicy } from "../../src/launch/load-policy.ts";
import { sealFiles } from "../../src/launch/seal-files.ts";

const place = mkdtempSync(join(tmpdir(), "faraday-seal-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

const context = { env: () => undefined, home: "/home/ann" };

function sealed(table: string, landlockAbi: number) {
  const path = join(place, "policy.toml");
  writeFileSync(path, `[meta]\ndefault_action = "allow"\n[filesystem]\n${table}\n`);
  const loaded = loadPolicy(path, context);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  const cli = { read: [], write: [], allow: [] };
  return sealFiles({
    loaded: loaded.value,
    cli,
    context,
    audit: null,
    landlockAbi,
    isInstalled: () => false,
  });
}

describe("a kernel without Landlock", () => {
  test("ends the run with 126, unless the policy says otherwise", () => {
    const refused = sealed('read_globs = ["/usr"]', 0);
    expect(refused.ok ? null : refused.error.exit).toBe(126);
    expect(refused.ok ? "" : refused.error.message).toContain("files cannot be sealed here");
  });

  test("with require_enforced = false it goes on, and says so", () => {
    const open = sealed('read_globs = ["/usr"]\nrequire_enforced = false', 0);
    expect(open.ok && open.value.landlock).toBeNull();
    expect(open.ok && open.value.state.state).toBe("not");
    expect(open.ok && open.value.warnings.map(({ code }) => code)).toEqual(["not-sealed"]);
  });
});

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9])("ABI %d is enough for a seal", (abi) => {
  const seal = sealed('read_globs = ["/usr"]', abi);
  expect(seal.ok && seal.value.state.state).toBe("enforced");
  expect(seal.ok && seal.value.warnings).toEqual([]);
});
