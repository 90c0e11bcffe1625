import type { Diagnostic } from "./diagnostic.ts";
import type { Environment } from "./expand-variables.ts";
import { ProblemList } from "./problem-list.ts";
import { type FilesystemSettings, readFilesystem } from "./read-filesystem.ts";
import { err, ok, type Result } from "./result.ts";
import { SourceText } from "./source-text.ts";
import type { TomlArray, TomlEntry, TomlTable } from "./toml-tree.ts";

export interface CliGrants {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly allow: readonly string[];
}

export const COMMAND_LINE = "<command line>";

/** The grants of the command line, held to the same rules as those of a `[filesystem]` table. */
export function readCliGrants(
  grants: CliGrants,
  context: { readonly env: Environment; readonly home: string | undefined },
): Result<Pick<FilesystemSettings, "read" | "write" | "allow">, readonly Diagnostic[]> {
  let text = "";
  const entries = new Map<string, TomlEntry>();
  for (const flag of ["read", "write", "allow"] as const) {
    const elements: TomlArray["elements"] = [];
    for (const value of grants[flag]) {
      // A line a flag, so that a mistake can be shown in its place.
      const start = text.length + `--${flag} `.length;
      text += `--${flag} ${value.replaceAll("\n", " ")}\n`;
      elements.push({ type: "string", value, start, end: start + value.length });
    }
    const list: TomlArray = { type: "array", elements, start: 0, end: 0 };
    const key = `${flag}_globs`;
    if (elements.length > 0) entries.set(key, { key, keyStart: 0, keyEnd: 0, value: list });
  }
  const source = new SourceText(COMMAND_LINE, text);
  const problems = new ProblemList();
  const table: TomlTable = { type: "table", entries, start: 0, end: text.length };
  const settings = readFilesystem(table, {
    ...context,
    source,
    problems,
    keepsVariables: false,
    skipTests: true,
  });
  return problems.errors.length > 0 ? err(problems.errors) : ok(settings);
}
