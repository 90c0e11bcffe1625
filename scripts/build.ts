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
 * The parts that main.ts imports when it needs them. Each is bundled on its own with all that it
 * uses: one module to load instead of a dozen shared chunks, which is most of the start-up time.
 */
const PARTS: Readonly<Record<string, string>> = {
  "./launch/launcher.ts": "launcher",
  "./launch/spawn-launcher.ts": "spawn-launcher",
  "./commands/run.ts": "run",
  "./commands/check.ts": "check",
  "./commands/doctor.ts": "doctor",
  "./cli/print-help.ts": "print-help",
  "./cli/print-usage-error.ts": "print-usage-error",
  "./supervisor-worker.ts": "supervisor-worker",
};

/** Packages that are loaded at their first use, from a file of their own. */
const LAZY_PACKAGES = ["re2js", "toml-eslint-parser"] as const;

const keepPackages: BunPlugin = {
  name: "keep lazily loaded packages apart",
  setup(build) {
    build.onResolve({ filter: /^(?:re2js|toml-eslint-parser)$/ }, ({ path, kind }) =>
      kind === "require-call" ? { path: `./${path}.js`, external: true } : undefined,
    );
  },
};

const keepParts: BunPlugin = {
  name: "keep parts apart",
  setup(build) {
    build.onResolve({ filter: /^\.\// }, ({ path, kind }) => {
      const part = kind === "dynamic-import" ? PARTS[path] : undefined;
      return part === undefined ? undefined : { path: `./${part}.js`, external: true };
    });
  },
};

async function bundle(entry: string, name: string, plugins: BunPlugin[]): Promise<void> {
  const result = await Bun.build({
    entrypoints: [entry],
    outdir: stage,
    naming: { entry: `${name}.js`, asset: "[name].[ext]" },
    target: "bun",
    format: "esm",
    minify: true,
    plugins,
  });
  if (!result.success) throw new AggregateError(result.logs, `cannot bundle ${entry}`);
}

rmSync(stage, { recursive: true, force: true });
mkdirSync(join(root, "dist"), { recursive: true });
for (const [entry, name] of Object.entries(PARTS)) {
  await bundle(join(root, "src", entry), name, [keepPackages]);
}
for (const name of LAZY_PACKAGES) await bundle(Bun.resolveSync(name, root), name, []);
await bundle(join(root, "src/main.ts"), "main", [keepParts]);
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
    join(stage, "supervisor-worker.js"),
    ...LAZY_PACKAGES.map((name) => join(stage, `${name}.js`)),
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
