/** Checks who imports whom against the table of the design, so that the layers stay layers. */
import { posix } from "node:path";
import { blankText } from "./blank-text.ts";
import { reportViolations, type SourceFile, sourceFiles, type Violation } from "./source-files.ts";

interface Layer {
  /** Folders or files; a folder may always import itself unless `notItself`. */
  readonly mayImport: readonly string[];
  /** From these only types may be imported. */
  readonly mayImportTypes?: readonly string[];
  /** No I/O, no clock, no globals of Bun or Node: runs and is tested on any system. */
  readonly pure?: true;
  readonly notItself?: true;
}

const FFI = ["ffi/abi", "ffi/calls"];
const LAYERS: Readonly<Record<string, Layer>> = {
  "ffi/abi": { mayImport: [], pure: true },
  // build/ holds the libseccomp.so that the build embeds.
  "ffi/calls": { mayImport: ["ffi/abi", "build"] },
  "src/policy": { mayImport: [], pure: true },
  "src/plan": { mayImport: ["src/policy", "ffi/abi"], pure: true },
  // build/ holds what was made from the sources in advance: the filter, the parsed policies.
  "src/launch": { mayImport: ["src/policy", "src/plan", "policies", "build", ...FFI] },
  "src/supervise": { mayImport: ["src/policy", "src/plan", "src/audit", ...FFI] },
  "src/proxy": { mayImport: ["src/policy", "src/audit"] },
  "src/audit": { mayImport: ["src/policy/byte-text.ts"], mayImportTypes: ["src/policy"] },
  "src/cli": {
    mayImport: [
      "src/policy/diagnostic.ts",
      "src/policy/result.ts",
      "src/policy/escape-control.ts",
      "src/policy/closest-name.ts",
      "package.json",
    ],
  },
  "src/commands": {
    mayImport: [
      "src/cli",
      "src/policy",
      "src/plan",
      "src/launch",
      "src/supervise",
      "src/proxy",
      "src/audit",
      "src/supervisor-messages.ts",
      ...FFI,
    ],
    notItself: true,
  },
  "src/main.ts": {
    mayImport: ["src/cli", "src/commands", "src/launch", "src/policy/policy-schema.ts"],
  },
  // The Worker's entry stands beside main.ts, or its path would not resolve once compiled.
  "src/supervisor-worker.ts": {
    mayImport: ["src/launch", "src/policy", "src/supervise", "src/supervisor-messages.ts", ...FFI],
  },
  "src/supervisor-messages.ts": {
    mayImport: ["src/launch", "src/plan", "src/policy", "src/supervise"],
  },
};

const FFI_IMPORTERS = ["ffi/calls/libc.ts", "ffi/calls/libseccomp.ts"];

const IMPORT =
  /(?:^|[^.\w])(import|export)(\s+type\b)?(?:[\s\w*{},$]*?\bfrom)?\s*\(?\s*["']([^"'\n]+)["']/g;

/** Uses of what a pure module must not know; a property of the same name does not count. */
const IMPURE = new RegExp(
  `(?<![.\\w$])(?:${[
    "(?:Bun|process|Buffer|console|performance|globalThis)\\s*[.[(]",
    // A package may be loaded at its first use; that is an import, only later.
    'require\\s*\\((?!"(?:re2js|toml-eslint-parser)"\\))',
    "(?:fetch|setTimeout|setInterval)\\s*\\(",
    "new Date\\b",
    "Date\\.now\\b",
    "Math\\.random\\b",
  ].join("|")})`,
  "g",
);

/** A package that is loaded at its first use is an import, only later. */
const LAZY_PACKAGE = /^require\("(?:re2js|toml-eslint-parser)"\)/;

export function layerViolations(files: readonly SourceFile[]): readonly Violation[] {
  return files
    .filter(({ path }) => /^(?:src|ffi)\/.*\.ts$/.test(path))
    .flatMap((file) => [...importViolations(file), ...purityViolations(file)]);
}

function importViolations(file: SourceFile): Violation[] {
  const own = layerOf(file.path);
  if (own === null) {
    return [{ path: file.path, line: 1, message: "belongs to no layer of the design" }];
  }
  const violations: Violation[] = [];
  const code = blankText(file.text);
  for (const match of file.text.matchAll(IMPORT)) {
    // The text is searched, because blanked code has no names in it; prose does not count.
    const at = match.index + match[0].indexOf(match[1] ?? "");
    if (!code.startsWith(match[1] ?? "", at)) continue;
    const wrong = judgeImport(file.path, own, match[3] ?? "", { typesOnly: Boolean(match[2]) });
    if (wrong !== null) {
      violations.push({ path: file.path, line: lineAt(file.text, at), message: wrong });
    }
  }
  return violations;
}

function judgeImport(
  path: string,
  own: string,
  specifier: string,
  options: { readonly typesOnly: boolean },
): string | null {
  const layer = LAYERS[own];
  if (layer === undefined) return `${own} is not in the table`;
  if (!specifier.startsWith(".")) {
    if (specifier === "bun:ffi" && !FFI_IMPORTERS.includes(path)) {
      return `only ${FFI_IMPORTERS.join(" and ")} may import bun:ffi`;
    }
    const system = /^(?:node:|bun:|bun$)/.test(specifier);
    return layer.pure && system ? `${own} is pure and may not import ${specifier}` : null;
  }
  const target = posix.join(posix.dirname(path), specifier);
  const allowed = [...layer.mayImport, ...(options.typesOnly ? (layer.mayImportTypes ?? []) : [])];
  if (!layer.notItself) allowed.push(own);
  // A command may be more than one file: run.ts has run-report.ts.
  else if (target.startsWith(path.replace(/(?:-[\w-]+)?\.ts$/, "-"))) return null;
  if (allowed.some((place) => target === place || target.startsWith(`${place}/`))) return null;
  return `${own} may not import ${target}`;
}

function purityViolations(file: SourceFile): Violation[] {
  const layer = LAYERS[layerOf(file.path) ?? ""];
  if (layer?.pure !== true) return [];
  const code = blankText(file.text);
  return Array.from(code.matchAll(IMPURE))
    .filter((match) => !LAZY_PACKAGE.test(file.text.slice(match.index)))
    .map((match) => ({
      path: file.path,
      line: lineAt(code, match.index),
      message: `a pure module may not use \`${match[0].replace(/[\s.[(]+$/, "")}\``,
    }));
}

function layerOf(path: string): string | null {
  const names = Object.keys(LAYERS);
  return names.find((name) => path === name || path.startsWith(`${name}/`)) ?? null;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

if (import.meta.main) reportViolations("check-layers", layerViolations(sourceFiles()));
