/**
 * Makes dist/release/: a binary for each machine, compressed forms of it, what is in them, and the
 * checksums of all.
 *   npm run release             both architectures
 *   npm run release -- --check  the same, and then once more to see that the bytes are the same
 *   npm run release -- --plain  the binaries alone, for a quick try
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Arch } from "../ffi/abi/arch.ts";
import { buildBinary } from "./build.ts";
import { filterFile } from "./filter-file.ts";
import { billOfMaterials } from "./release/bill-of-materials.ts";
import { npmRuntime, run } from "./release/npm-runtime.ts";

interface Target {
  readonly name: "linux-x64" | "linux-arm64";
  readonly arch: Arch;
  readonly debian: string;
  readonly runtime: string;
}

const TARGETS: readonly Target[] = [
  { name: "linux-x64", arch: "x86_64", debian: "amd64", runtime: "@oven/bun-linux-x64" },
  { name: "linux-arm64", arch: "aarch64", debian: "arm64", runtime: "@oven/bun-linux-aarch64" },
];

const root = join(import.meta.dir, "..");
const work = join(root, "build/release");
const ZSTD_LEVEL = 19;

/** The library of the target, out of Debian's package for it; the package's version. */
function fetchLibseccomp({ arch, debian }: Target, folder: string): string {
  const unpacked = join(folder, "libseccomp2");
  const shown = run([join(root, "scripts/fetch-debian"), debian, unpacked, "libseccomp2"]);
  const libraries = join(unpacked, `usr/lib/${arch}-linux-gnu`);
  copyFileSync(join(libraries, "libseccomp.so.2"), join(folder, "libseccomp.so"));
  return shown.replace("libseccomp2 ", "");
}

async function buildTarget(target: Target, out: string): Promise<string> {
  const embedded = join(work, target.name);
  mkdirSync(embedded, { recursive: true });
  const version = fetchLibseccomp(target, embedded);
  writeFileSync(join(embedded, "exec-filter.json"), filterFile(target.arch));
  const outfile = join(out, `faraday-${target.name}`);
  await buildBinary({
    name: target.name,
    runtime: npmRuntime(target.runtime, work),
    embedded,
    stage: join(embedded, "stage"),
    outfile,
  });
  return version;
}

/** The runtime cannot be stripped, but half of it is redundant to a compressor. */
function compress(path: string): void {
  const bytes = readFileSync(path);
  writeFileSync(`${path}.gz`, Bun.gzipSync(bytes, { level: 9 }));
  writeFileSync(`${path}.zst`, Bun.zstdCompressSync(bytes, { level: ZSTD_LEVEL }));
}

function checksums(folder: string): string {
  return readdirSync(folder)
    .sort()
    .map((file) => `${sha256(join(folder, file))}  ${file}\n`)
    .join("");
}

function sha256(path: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");
}

async function makeRelease(out: string, options: { readonly isPlain: boolean }): Promise<void> {
  rmSync(out, { recursive: true, force: true });
  const versions = new Set<string>();
  for (const target of TARGETS) versions.add(await buildTarget(target, out));
  const [version, ...others] = versions;
  if (version === undefined || others.length > 0) {
    throw new Error(`one libseccomp for all, not ${[...versions].join(" and ")}`);
  }
  if (options.isPlain) return;
  for (const { name } of TARGETS) compress(join(out, `faraday-${name}`));
  writeFileSync(join(out, "faraday.cdx.json"), billOfMaterials({ version }));
  copyFileSync(join(root, "install.sh"), join(out, "install.sh"));
  writeFileSync(join(out, "SHA256SUMS"), checksums(out));
}

const { values } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    plain: { type: "boolean", default: false },
  },
});
const options = { isPlain: values.plain };
const out = join(root, "dist/release");
await makeRelease(out, options);
process.stdout.write(checksums(out));
if (values.check) {
  const again = join(work, "again");
  await makeRelease(again, options);
  const isSame = checksums(again) === checksums(out);
  process.stdout.write(isSame ? "built twice: the same bytes\n" : "built twice: other bytes\n");
  rmSync(again, { recursive: true, force: true });
  process.exitCode = isSame ? 0 : 1;
}
