/** Makes dist/faraday: the binary, with libseccomp inside, closed to what is around it. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import "./prepare.ts";
import type { BunPlugin } from "bun";
import { closeRuntime } from "./close-runtime.ts";

const root = join(import.meta.dir, "..");
const stage = join(root, "build/stage");
const outfile = join(root, "dist/faraday");

/**
 * What is loaded only when it is needed, by the name under which it is imported or required. Each
 * is bundled on its own with all that it uses: one module to load instead of a dozen shared chunks,
 * which is most of the start-up time.
 */
const PARTS: Readonly<Record<string, { readonly name: string; readonly entry: string }>> = {
  "./launch/launcher.ts": part("launch/launcher"),
  "./launch/spawn-launcher.ts": part("launch/spawn-launcher"),
  "./commands/run.ts": part("commands/run"),
  "./run-report.ts": part("commands/run-report"),
  "./seal-files.ts": part("launch/seal-files"),
  "./builtin-policies.ts": part("launch/builtin-policies"),
  "./parsed-builtins.ts": part("launch/parsed-builtins"),
  "./commands/check.ts": part("commands/check"),
  "./commands/doctor.ts": part("commands/doctor"),
  "./cli/print-help.ts": part("cli/print-help"),
  "./cli/print-usage-error.ts": part("cli/print-usage-error"),
  "./supervisor-worker.ts": part("supervisor-worker"),
  re2js: { name: "re2js", entry: Bun.resolveSync("re2js", root) },
  "toml-eslint-parser": {
    name: "toml-eslint-parser",
    entry: Bun.resolveSync("toml-eslint-parser", root),
  },
};

/** What main.js does not lead to: a Worker, and what is required, not imported. */
const ENTRIES = [
  "supervisor-worker",
  "builtin-policies",
  "parsed-builtins",
  "re2js",
  "toml-eslint-parser",
] as const;

function part(path: string): { name: string; entry: string } {
  return { name: path.slice(path.lastIndexOf("/") + 1), entry: join(root, "src", `${path}.ts`) };
}

const keepParts: BunPlugin = {
  name: "keep parts apart",
  setup(build) {
    build.onResolve({ filter: /./ }, ({ path, kind }) => {
      const isLazy = kind === "dynamic-import" || kind === "require-call";
      const kept = isLazy && Object.hasOwn(PARTS, path) ? PARTS[path] : undefined;
      return kept === undefined ? undefined : { path: `./${kept.name}.js`, external: true };
    });
  },
};

async function bundle(entry: string, name: string): Promise<void> {
  const result = await Bun.build({
    entrypoints: [entry],
    outdir: stage,
    naming: { entry: `${name}.js`, asset: "[name].[ext]" },
    target: "bun",
    format: "esm",
    minify: true,
    plugins: [keepParts],
  });
  if (!result.success) throw new AggregateError(result.logs, `cannot bundle ${entry}`);
}

rmSync(stage, { recursive: true, force: true });
mkdirSync(join(root, "dist"), { recursive: true });
for (const { name, entry } of Object.values(PARTS)) await bundle(entry, name);
await bundle(join(root, "src/main.ts"), "main");
const main = Bun.file(join(stage, "main.js"));
const text = await main.text();
if (!text.includes("./supervisor-worker.ts")) throw new Error("main.ts starts no Worker any more");
await Bun.write(main, text.replaceAll("./supervisor-worker.ts", "./supervisor-worker.js"));

const built = Bun.spawnSync(
  [
    process.execPath,
    "build",
    "--compile",
    "--minify",
    "--splitting",
    "--bytecode",
    "--format=esm",
    "--no-compile-autoload-bunfig",
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-package-json",
    "--no-compile-autoload-tsconfig",
    join(stage, "main.js"),
    ...ENTRIES.map((name) => join(stage, `${name}.js`)),
    "--outfile",
    outfile,
  ],
  { cwd: root, stdout: "pipe", stderr: "pipe" },
);
if (!built.success) {
  process.stderr.write(built.stdout);
  process.stderr.write(built.stderr);
  process.exit(1);
}
await closeRuntime(outfile);
process.stdout.write("built dist/faraday\n");
