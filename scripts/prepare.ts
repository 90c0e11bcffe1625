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

// These two read the files above when they are imported.
const { compileFilter } = await import("../ffi/calls/libseccomp.ts");
const { ARCH } = await import("../ffi/calls/libc.ts");
const { execFilter } = await import("../src/plan/exec-filter.ts");
const { SEAL_KINDS, sealFilter } = await import("../src/plan/file-filter.ts");
const { parsePolicy } = await import("../src/policy/parse-policy.ts");
const { BUILTIN_POLICIES } = await import("../src/launch/builtin-policies.ts");
const { BUILTIN_PREFIX } = await import("../src/launch/builtin-names.ts");

/** The filters of a run without a network layer are always the same. */
const filter = compileFilter(execFilter()).toString("base64");
const sealed = SEAL_KINDS.map((kind) => [
  kind,
  compileFilter([...execFilter(), ...sealFilter(kind)]).toString("base64"),
]);
const filters = { arch: ARCH, filter, ...Object.fromEntries(sealed) };
writeFileSync(join(build, "exec-filter.json"), JSON.stringify(filters));

/** A policy that depends on where it is used is read there. */
const DEPENDS = /^\s*extends\b|\$\{|^\s*\[filesystem\]/m;
const parsed: Record<string, { sha256: string; json: string }> = {};
for (const [name, text] of Object.entries(BUILTIN_POLICIES)) {
  if (DEPENDS.test(text)) continue;
  const result = parsePolicy(
    { name: BUILTIN_PREFIX + name, text },
    { env: () => undefined, home: undefined, readBase: () => ({ ok: false, error: "no bases" }) },
  );
  if (!result.ok) throw new Error(JSON.stringify(result.error, null, 2));
  const { policy, warnings } = result.value;
  parsed[name] = {
    sha256: new Bun.CryptoHasher("sha256").update(text).digest("hex"),
    json: JSON.stringify({ policy: { ...policy, tests: [] }, warnings }),
  };
}
writeFileSync(join(build, "builtin-policies.json"), JSON.stringify(parsed));
