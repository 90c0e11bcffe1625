import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../../scripts/source-files.ts";
import { loadPolicy } from "../../src/launch/load-policy.ts";

const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
const manifest = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8"));

test("the policy in the README loads without a warning", async () => {
  const text = /```toml\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  const path = join(process.env.TMPDIR ?? "/tmp", `faraday-readme-${process.pid}.toml`);
  await Bun.write(path, text);
  const loaded = loadPolicy(path, { env: () => undefined, home: "/home/ann" });
  await Bun.file(path).delete();
  expect(loaded.ok ? loaded.value.warnings : loaded.error).toEqual([]);
});

test("every npm script in the README exists", () => {
  const names = Array.from(readme.matchAll(/npm (?:run )?([a-z:]+)/g), ([, name]) => name ?? "");
  const own = names.filter((name) => !["ci", "and"].includes(name));
  for (const name of own) expect(Object.keys(manifest.scripts)).toContain(name);
  expect(own).toContain("test");
});

test(".ci/run calls the test command of the README", () => {
  const command = /^(npm ci && npm test)\b/m.exec(readme)?.[1];
  expect(command).toBe("npm ci && npm test");
  expect(readFileSync(join(REPOSITORY, ".ci/run"), "utf8")).toEndWith(`\n${command}\n`);
});
