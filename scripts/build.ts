/** Makes dist/faraday: the binary, with libseccomp inside, closed to what is around it. */
import { mkdirSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import "./prepare.ts";
import type { BunPlugin } from "bun";
import { editRuntime } from "./edit-runtime.ts";

const root = join(import.meta.dir, "..");

export interface BuildTarget {
  /** As Bun calls it, without `bun-`. */
  readonly name: string;
  /** The runtime that becomes part of the binary. */
  readonly runtime: string;
  /** Where the library and the filters of that machine are; build/ for this one. */
  readonly embedded: string;
  readonly stage: string;
  readonly outfile: string;
}

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
  "./run-net-denials.ts": part("commands/run-net-denials"),
  "./run-socket-denials.ts": part("commands/run-socket-denials"),
  "./seal-files.ts": part("launch/seal-files"),
  "./builtin-policies.ts": part("launch/builtin-policies"),
  "./parsed-builtins.ts": part("launch/parsed-builtins"),
  "../proxy/start-proxy.ts": part("proxy/start-proxy"),
  "./commands/check.ts": part("commands/check"),
  "./commands/doctor.ts": part("commands/doctor"),
  "./commands/explain.ts": part("commands/explain"),
  "./commands/log.ts": part("commands/log"),
  "./commands/profiles.ts": part("commands/profiles"),
  "./commands/init.ts": part("commands/init"),
  "./commands/selftest.ts": part("commands/selftest"),
  "./commands/selftest-stage.ts": part("commands/selftest-stage"),
  "./cli/completion-script.ts": part("cli/completion-script"),
  "./cli/man-page.ts": part("cli/man-page"),
  "./policy/policy-schema.ts": part("policy/policy-schema"),
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

/** What depends on the machine and is imported from build/ by name. */
const EMBEDDED = /\/build\/(libseccomp\.so|exec-filter\.json)$/;

function plugin(embedded: string): BunPlugin {
  return {
    name: "keep parts apart, embed what the target needs",
    setup(build) {
      build.onResolve({ filter: /./ }, ({ path, kind }) => {
        const ofTarget = EMBEDDED.exec(path)?.[1];
        if (ofTarget !== undefined) return { path: join(embedded, ofTarget) };
        const isLazy = kind === "dynamic-import" || kind === "require-call";
        const kept = isLazy && Object.hasOwn(PARTS, path) ? PARTS[path] : undefined;
        return kept === undefined ? undefined : { path: `./${kept.name}.js`, external: true };
      });
    },
  };
}

/** Of this checkout, and of no other that it may lie in; `unknown` outside of one. */
function commitName(): string {
  const git = (...words: string[]): string | null => {
    try {
      const ran = Bun.spawnSync(["git", "-C", root, ...words], { stderr: "ignore" });
      return ran.success ? ran.stdout.toString().trim() : null;
    } catch {
      // There is no git on this machine.
      return null;
    }
  };
  if (git("rev-parse", "--show-toplevel") !== realpathSync(root)) return "unknown";
  const commit = git("rev-parse", "--short=12", "HEAD");
  if (commit === null) return "unknown";
  const isClean = git("status", "--porcelain", "--untracked-files=no") === "";
  return isClean ? commit : `${commit}-dirty`;
}

const commit = JSON.stringify(commitName());

async function bundle(entry: string, name: string, target: BuildTarget): Promise<void> {
  const result = await Bun.build({
    entrypoints: [entry],
    outdir: target.stage,
    naming: { entry: `${name}.js`, asset: "[name].[ext]" },
    target: "bun",
    format: "esm",
    minify: true,
    define: { FARADAY_COMMIT: commit },
    plugins: [plugin(target.embedded)],
  });
  if (!result.success) throw new AggregateError(result.logs, `cannot bundle ${entry}`);
}

export async function buildBinary(target: BuildTarget): Promise<void> {
  const { stage, outfile } = target;
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(dirname(outfile), { recursive: true });
  for (const { name, entry } of Object.values(PARTS)) await bundle(entry, name, target);
  await bundle(join(root, "src/main.ts"), "main", target);
  const main = Bun.file(join(stage, "main.js"));
  const text = await main.text();
  if (!text.includes("./supervisor-worker.ts")) {
    throw new Error("main.ts starts no Worker any more");
  }
  await Bun.write(main, text.replaceAll("./supervisor-worker.ts", "./supervisor-worker.js"));
  compile(target);
  await editRuntime(outfile, target.runtime);
}

function compile({ name, runtime, stage, outfile }: BuildTarget): void {
  const built = Bun.spawnSync(
    [
      process.execPath,
      "build",
      "--compile",
      `--target=bun-${name}`,
      `--compile-executable-path=${runtime}`,
      "--minify",
      "--splitting",
      "--bytecode",
      "--format=esm",
      "--no-compile-autoload-bunfig",
      "--no-compile-autoload-dotenv",
      "--no-compile-autoload-package-json",
      "--no-compile-autoload-tsconfig",
      join(stage, "main.js"),
      ...ENTRIES.map((entry) => join(stage, `${entry}.js`)),
      "--outfile",
      outfile,
    ],
    { cwd: root, stdout: "pipe", stderr: "pipe" },
  );
  if (built.success) return;
  process.stderr.write(built.stdout);
  process.stderr.write(built.stderr);
  throw new Error(`bun cannot build ${outfile}`);
}

if (import.meta.main) {
  await buildBinary({
    name: `linux-${process.arch}`,
    runtime: process.execPath,
    embedded: join(root, "build"),
    stage: join(root, "build/stage"),
    outfile: join(root, "dist/faraday"),
  });
  process.stdout.write("built dist/faraday\n");
}
