import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Workplace } from "../kernel/faraday-run.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

const isRoot = process.getuid?.() === 0;
/** Names the program that the kernel starts for a crash: as root, and outside of the sandbox. */
const SETTING = "/proc/sys/kernel/core_pattern";
/** Writes what is there already, so that nothing changes if it works. */
const WRITE = `value=$(cat ${SETTING}) && echo "$value" > ${SETTING} && echo written`;

test.if(isRoot)("a grant of everything does not cover the settings of the kernel", async () => {
  const before = readFileSync(SETTING, "utf8");
  expect((await place.bare(["sh", "-c", WRITE])).stdout).toBe("written\n");
  const table = 'allow_globs = ["/"]\nallow_self_write = true\n';
  const all = { policy: `[meta]\ndefault_action = "allow"\n[filesystem]\n${table}` };
  for (const options of [all, { cwd: "/" }]) {
    const kept = await place.faraday(["sh", "-c", WRITE], options);
    expect(kept.stdout).toBe("");
    expect(kept.stderr).toContain("Permission denied");
  }
  const file = place.at("file");
  const good = await place.faraday(["sh", "-c", `echo x > ${file} && cat ${file}`], all);
  expect([good.stdout, good.exit]).toEqual(["x\n", 0]);
  expect(readFileSync(SETTING, "utf8")).toBe(before);
});

test.if(isRoot)("a grant that names a setting does", async () => {
  const kept = await place.faraday(["sh", "-c", WRITE], { flags: ["--allow", SETTING] });
  expect([kept.stdout, kept.exit]).toEqual(["written\n", 0]);
});
