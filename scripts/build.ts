/** Makes dist/faraday: the binary, with libseccomp inside, closed to what is around it. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { closeRuntime } from "./close-runtime.ts";

const root = join(import.meta.dir, "..");
const LIBRARY_DIRECTORIES = ["/usr/lib", "/lib", "/usr/lib64", "/lib64", "/usr/local/lib"];

function findLibseccomp(): string {
  const multiarch = process.arch === "x64" ? "x86_64-linux-gnu" : "aarch64-linux-gnu";
  for (const directory of LIBRARY_DIRECTORIES.flatMap((each) => [join(each, multiarch), each])) {
    if (!existsSync(directory)) continue;
    const name = readdirSync(directory).find((each) => each === "libseccomp.so.2");
    if (name !== undefined) return realpathSync(join(directory, name));
  }
  throw new Error("libseccomp.so.2 is not installed: run `npm run setup` first");
}

mkdirSync(join(root, "build"), { recursive: true });
mkdirSync(join(root, "dist"), { recursive: true });
copyFileSync(findLibseccomp(), join(root, "build/libseccomp.so"));
chmodSync(join(root, "build/libseccomp.so"), 0o644);

const outfile = join(root, "dist/faraday");
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
    join(root, "src/main.ts"),
    join(root, "src/supervisor-worker.ts"),
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
process.stdout.write(`built ${outfile.slice(root.length + 1)}\n`);
