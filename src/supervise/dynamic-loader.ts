/** Names under which C libraries install their loader. */
const LOADER =
  /\/(?:ld-linux[\w-]*\.so\.\d+|ld64\.so\.\d+|ld-musl-[\w-]+\.so\.\d+|ld-\d[\d.]*\.so)$/;

/** Options of glibc's and musl's loaders that take the next word as their value. */
const WITH_VALUE = new Set([
  "--library-path",
  "--preload",
  "--audit",
  "--argv0",
  "--inhibit-rpath",
  "--glibc-hwcaps-prepend",
  "--glibc-hwcaps-mask",
]);
/** Options after which the loader reports something and starts no program. */
const NO_PROGRAM = new Set(["--help", "--version", "--list-tunables", "--list-diagnostics"]);

export function isDynamicLoader(path: string): boolean {
  return LOADER.test(path);
}

/** Where a loader is the system's own, and not a program that was given a loader's name. */
const SYSTEM_DIRECTORY = /^\/(?:usr\/)?lib(?:32|64|x32)?\/|^\/(?:nix|gnu)\/store\//;

export function isSystemLoader(path: string): boolean {
  // With `..` in it, where a path begins does not say where it ends.
  return SYSTEM_DIRECTORY.test(path) && LOADER.test(path) && !path.includes("/../");
}

/** The usual places, for telling a loader by its inode when it goes by another name. */
export const LOADER_PATHS = [
  "/lib64/ld-linux-x86-64.so.2",
  "/lib/ld-linux-aarch64.so.1",
  "/lib/ld-musl-x86_64.so.1",
  "/lib/ld-musl-aarch64.so.1",
] as const;

export type LoaderTarget =
  | { readonly kind: "none" }
  | { readonly kind: "program"; readonly path: string; readonly argv: readonly string[] }
  /** The loader would search its library path: what it finds cannot be told in advance. */
  | { readonly kind: "unknown" };

/** The program that a loader started by hand will load, from the loader's own arguments. */
export function loaderTarget(argv: readonly string[]): LoaderTarget {
  let argv0: string | null = null;
  for (let index = 1; index < argv.length; index++) {
    const word = argv[index] ?? "";
    if (NO_PROGRAM.has(word)) return { kind: "none" };
    if (WITH_VALUE.has(word)) {
      if (word === "--argv0") argv0 = argv[index + 1] ?? null;
      index++;
      continue;
    }
    if (word === "--argv0=" || word.startsWith("--argv0=")) {
      argv0 = word.slice("--argv0=".length);
      continue;
    }
    if (word === "--") return program(argv, index + 1, argv0);
    if (word.startsWith("--")) continue;
    return program(argv, index, argv0);
  }
  return { kind: "none" };
}

function program(argv: readonly string[], index: number, argv0: string | null): LoaderTarget {
  const path = argv[index];
  if (path === undefined) return { kind: "none" };
  if (!path.includes("/")) return { kind: "unknown" };
  return { kind: "program", path, argv: [argv0 ?? path, ...argv.slice(index + 1)] };
}
