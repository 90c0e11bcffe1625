import { expect, test } from "bun:test";
import { join } from "node:path";
import { REPOSITORY, sourceFiles } from "../../scripts/source-files.ts";

const scripts = sourceFiles()
  .filter(({ text }) => /^#!\/(?:usr\/bin\/env |bin\/)(?:ba|busybox )?sh\n/.test(text))
  .map(({ path }) => path);

test("there are shell scripts to check", () => {
  expect(scripts).toContain("install.sh");
  expect(scripts).toContain("scripts/setup");
});

test.each(scripts)("shellcheck finds nothing in %s", (path) => {
  const ran = Bun.spawnSync(["shellcheck", join(REPOSITORY, path)]);
  expect(ran.stdout.toString()).toBe("");
  expect(ran.exitCode).toBe(0);
});
