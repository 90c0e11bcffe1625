/** Makes build/: what the sources import and the binary embeds. Every other script needs it. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { ParsedBuiltin } from "../src/launch/parsed-builtins.ts";

const root = join(import.meta.dir, "..");
const build = join(root, "build");
const LIBRARY_DIRECTORIES = ["/usr/lib", "/lib", "/usr/lib64", "/lib64", "/usr/local/lib"];

function findLibseccomp(): string {
  const multiarch = process.arch === "x64" ? "x86_64-linux-gnu" : "aarch64-linux-gnu";
  const places = LIBRARY_DIRECTORIES.flatMap((each) => [join(each, multiarch), each]);
  const found = places.map((each) => join(each, "libseccomp.so.2")).find(existsSync);
  if (found === undefined) {
    throw new Error("libseccomp.so.2 is not installed: run `npm run setup` first");
  }
  return realpathSync(found);
}

mkdirSync(build, { recursive: true });
copyFileSync(findLibseccomp(), join(build, "libseccomp.so"));
chmodSync(join(build, "libseccomp.so"), 0o644);

// These read the files above when they are imported.
const { filterFile } = await import("./filter-file.ts");
const { ARCH } = await import("../ffi/calls/libc.ts");
const { parsePolicy } = await import("../src/policy/parse-policy.ts");
const { BUILTIN_POLICIES } = await import("../src/launch/builtin-policies.ts");
const { BUILTIN_PREFIX } = await import("../src/launch/builtin-names.ts");

writeFileSync(join(build, "exec-filter.json"), filterFile(ARCH));

/** What depends on the machine is left for the run to put in: `~` and `${NAME}` in grants. */
const parsed: Record<string, ParsedBuiltin> = {};
for (const [name, text] of Object.entries(BUILTIN_POLICIES)) {
  const bases: { path: string; sha256: string }[] = [];
  const readBase = (path: string): { ok: true; value: { name: string; text: string } } => {
    const base = BUILTIN_POLICIES[path.slice(BUILTIN_PREFIX.length)];
    if (base === undefined) throw new Error(`${name}: there is no ${path}`);
    if (bases.every((known) => known.path !== path)) bases.push({ path, sha256: sha256Of(base) });
    return { ok: true, value: { name: path, text: base } };
  };
  const env = (variable: string): never => {
    throw new Error(`${name}: \${${variable}} outside of [filesystem]`);
  };
  const result = parsePolicy(
    { name: BUILTIN_PREFIX + name, text },
    { env, home: undefined, readBase, keepsVariables: true },
  );
  if (!result.ok) throw new Error(JSON.stringify(result.error, null, 2));
  const { policy, warnings } = result.value;
  const json = JSON.stringify({ policy: { ...policy, tests: [] }, warnings });
  parsed[name] = { sha256: sha256Of(text), bases, json };
}
writeFileSync(join(build, "builtin-policies.json"), JSON.stringify(parsed));

function sha256Of(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
