import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** A file of the repository: its path from the root, with `/`, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

export const REPOSITORY = resolve(import.meta.dir, "..");

const NOT_OURS = new Set(["node_modules", "dist", "build", ".git", ".bench"]);

/** Every text file that belongs to the repository, sorted by path. */
export function sourceFiles(root: string = REPOSITORY): readonly SourceFile[] {
  const files: SourceFile[] = [];
  const pending = [""];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      if (NOT_OURS.has(entry.name)) continue;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) pending.push(path);
      if (!entry.isFile()) continue;
      const bytes = readFileSync(join(root, path));
      if (!bytes.includes(0)) files.push({ path, text: bytes.toString("utf8") });
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Prints what a check found; the exit code says whether that is nothing. */
export function reportViolations(check: string, violations: readonly Violation[]): never {
  for (const { path, line, message } of violations) {
    console.error(`${path}:${line}: ${message}`);
  }
  if (violations.length > 0) console.error(`${check}: ${violations.length} found`);
  process.exit(violations.length === 0 ? 0 : 1);
}
