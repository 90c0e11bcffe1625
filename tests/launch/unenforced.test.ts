import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadPolicy } from "../../src/launch/load-policy.ts";
import { sealFiles } from "../../src/launch/seal-files.ts";
import { layerStates } from "../../src/plan/layer-states.ts";

const NO_FILES = { read: [], write: [], allow: [] };
const context = { env: () => undefined, home: "/home/ann" };

/** Seals files as a kernel with this Landlock ABI would have them sealed. */
function sealOn(landlockAbi: number, table: string) {
  const place = mkdtempSync(join(tmpdir(), "faraday-unenforced-"));
  try {
    const path = join(place, "policy.toml");
    writeFileSync(path, `[filesystem]\nread_globs = ["/usr"]\n${table}`);
    const loaded = loadPolicy(path, context);
    if (!loaded.ok) throw new Error(loaded.error[0]?.message);
    const request = {
      cli: NO_FILES,
      context,
      audit: null,
      landlockAbi,
      isInstalled: () => false,
      cwd: place,
    };
    return sealFiles({ loaded: loaded.value, ...request });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

describe("files on a kernel without Landlock", () => {
  test("end the run with 126 and say what is missing", () => {
    const seal = sealOn(0, "");
    expect(seal.ok ? null : seal.error.exit).toBe(126);
    expect(seal.ok ? "" : seal.error.message).toContain("no Landlock");
  });

  test("are left open only where the policy says so, and the state shows it", () => {
    const seal = sealOn(0, "require_enforced = false\n");
    expect(seal.ok ? seal.value.state.state : seal.error.message).toBe("not");
  });

  test("are sealed where there is one", () => {
    const seal = sealOn(1, "");
    expect(seal.ok ? seal.value.state.state : seal.error.message).toBe("enforced");
  });
});

describe("layerStates()", () => {
  const REST = { takesDescriptors: true, waitsKillable: true };
  const features = { release: "6.18.0", landlockAbi: 7, ptraceRefusal: null, ...REST };

  test("a kernel that has everything enforces everything", () => {
    const { exec, supervisor } = layerStates({ ...features });
    expect([exec.state, supervisor.state]).toEqual(["enforced", "enforced"]);
  });

  test("without ptrace a verdict can be raced, so the gate is enforced in part", () => {
    const { exec } = layerStates({ ...features, ptraceRefusal: "EPERM" });
    expect(exec.state).toBe("partly");
    expect(exec.missing).toEqual(["exec verification: EPERM"]);
  });

  test.each([0, 2, 5])("before Landlock ABI 6 the command can signal its supervisor: %d", (abi) => {
    const { supervisor } = layerStates({ ...features, landlockAbi: abi });
    expect(supervisor.state).toBe("partly");
    expect(supervisor.missing[0]).toContain("signal its supervisor");
  });
});
