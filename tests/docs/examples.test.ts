/** Examples that no other test of this folder runs: files sealed, and lines to paste. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { REPOSITORY } from "../../scripts/source-files.ts";
import { parseArgv } from "../../src/cli/parse-argv.ts";
import { loadPolicy } from "../../src/launch/load-policy.ts";
import { Workplace } from "../kernel/faraday-run.ts";
import { exchangesOf, replay } from "./console-session.ts";
import { blocksOf, readDocument } from "./markdown-blocks.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

const DOCUMENTS = [
  ...readdirSync(REPOSITORY).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(REPOSITORY, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

describe("docs/filesystem.md", () => {
  const text = readDocument("docs/filesystem.md");
  const [policy] = blocksOf(text, "toml");
  // The example is a part of a policy; programs are not its subject.
  place.write("policy.toml", `[meta]\ndefault_action = "allow"\n${policy?.text ?? ""}`);

  test("the policy loads without a warning", () => {
    const path = place.at("policy.toml");
    const loaded = loadPolicy(path, { env: () => undefined, home: "/home/ann" });
    expect(loaded.ok ? loaded.value.warnings : loaded.error).toEqual([]);
  });

  test.each(blocksOf(text, "console").map((block) => [block.line, block.text] as const))(
    "line %d: the commands print what it says",
    async (_, block) => {
      const told = exchangesOf(block);
      const real = await replay(place, told);
      // What the example's directories come to on this machine is not its subject.
      const without = real.map(({ command, output }) => ({
        command,
        output: output.replace(/^faraday: .*\/srv\/app.*\n(?:hint: .*\n)?/gm, ""),
      }));
      expect(without).toEqual([...told]);
    },
  );
});

const shellLines = DOCUMENTS.flatMap((path) =>
  blocksOf(readDocument(path), "sh").flatMap(({ text }) =>
    text
      .split("\n")
      .map((line) => line.replace(/\s+# .*$/, "").trim())
      .filter((line) => line !== "" && !line.startsWith("#"))
      .flatMap((line) => line.split(" && "))
      .map((line) => [path, line] as const),
  ),
);

test("there are lines to paste", () => expect(shellLines.length).toBeGreaterThan(15));

test.each(shellLines)("%s: `%s` is something that there is", (_, line) => {
  const [program = "", ...words] = line.split(/\s+/);
  switch (program) {
    case "faraday":
      expect(parseArgv(words).ok).toBe(true);
      break;
    case "npm": {
      const [verb, script = ""] = words;
      if (verb === "run") expect(Object.keys(manifest.scripts)).toContain(script);
      else expect(["ci", "test"]).toContain(verb ?? "");
      break;
    }
    case "npx":
      expect(existsSync(join(REPOSITORY, "node_modules/.bin", words[0] ?? ""))).toBe(true);
      break;
    case "sh":
      expect(existsSync(join(REPOSITORY, words[0] ?? ""))).toBe(true);
      break;
    case "docker":
      expect(readDocument("compose.yaml")).toContain("  faraday-agent:\n");
      break;
    default:
      expect(existsSync(join(REPOSITORY, program))).toBe(true);
  }
});

test.each(DOCUMENTS)("links of %s lead somewhere", (path) => {
  const links = Array.from(readDocument(path).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g));
  const folder = join(REPOSITORY, path, "..");
  expect(links.filter(([, target]) => !existsSync(join(folder, target ?? "")))).toEqual([]);
});

describe("the workflow step of the README", () => {
  const [step] = blocksOf(readDocument("README.md"), "yaml").map(
    ({ text }) => (Bun.YAML.parse(text) as { uses: string; with: object }[])[0],
  );
  const action = Bun.YAML.parse(readDocument("action.yml")) as { inputs: object };

  test("uses inputs that the action has, and this version", () => {
    expect(step?.uses).toEndWith(`@v${manifest.version}`);
    const known = Object.keys(action.inputs);
    expect(Object.keys(step?.with ?? {}).filter((name) => !known.includes(name))).toEqual([]);
  });
});
