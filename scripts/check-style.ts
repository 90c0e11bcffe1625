/** Checks what of the house style a formatter and a type checker cannot see. */
import { blankText } from "./blank-text.ts";
import {
  REPOSITORY,
  reportViolations,
  type SourceFile,
  sourceFiles,
  type Violation,
} from "./source-files.ts";

const FILE_LINES_MAX = 300;
const FUNCTION_LINES_MAX = 70;
const LINE_CHARACTERS_MAX = 100;

/** A file may be longer if one of its first lines says why. */
const LONG_REASON = /^\/\/ long: \S/;
const LONG_REASON_LINES = 5;

const VAGUE_NAME = /(?:^|\/)(?:[\w.-]+[-.])?(?:utils?|helpers?|common|types|misc)\.ts$/;

// These are put together so that this file does not match itself.
const UNFINISHED = new RegExp(`\\b(?:${["TO", "DO"].join("")}|${["FIX", "ME"].join("")})\\b`);
const LEFT_OUT_TEST = /\b(?:test|it|describe)\.(?:only|skip|todo)\b/;
const WORKPLACES = ["main", "shared"].map((folder) => `${["", "work"].join("/")}/${folder}`);
const REGISTRY = new RegExp(`\\bregistry${"\\."}[a-z0-9-]+|"resolved"\\s*:`);
/** Hosts in examples are the subject there, not where we install from. */
const REGISTRY_EXEMPT = /^(?:policies|tests|docs)\//;

export function styleViolations(
  files: readonly SourceFile[],
  options: { readonly root: string } = { root: REPOSITORY },
): readonly Violation[] {
  const places = options.root.split("/").length > 2 ? [...WORKPLACES, options.root] : WORKPLACES;
  return files.flatMap((file) => [
    ...textViolations(file, places),
    ...(file.path.endsWith(".ts") ? codeViolations(file) : []),
  ]);
}

function textViolations(file: SourceFile, workplaces: readonly string[]): Violation[] {
  const violations: Violation[] = [];
  for (const [index, line] of file.text.split("\n").entries()) {
    const found = (message: string) =>
      violations.push({ path: file.path, line: index + 1, message });
    if (UNFINISHED.test(line)) found("unfinished: do it, or file an issue");
    const place = workplaces.find((candidate) => mentions(line, candidate));
    if (place !== undefined) found(`an absolute path of one machine: ${place}`);
    if (REGISTRY.test(line) && !REGISTRY_EXEMPT.test(file.path)) found("names a package registry");
  }
  return violations;
}

function mentions(line: string, path: string): boolean {
  const at = line.indexOf(path);
  return at !== -1 && !/[\w-]/.test(line[at + path.length] ?? "");
}

function codeViolations(file: SourceFile): Violation[] {
  const { path, text } = file;
  const violations: Violation[] = [];
  const found = (line: number, message: string) => violations.push({ path, line, message });
  if (VAGUE_NAME.test(path)) found(1, "name the file after its main export");

  const lines = text.replace(/\n$/, "").split("\n");
  const reason = lines.slice(0, LONG_REASON_LINES).some((line) => LONG_REASON.test(line));
  if (lines.length > FILE_LINES_MAX && !reason) {
    found(1, `${lines.length} lines; at most ${FILE_LINES_MAX}, or a \`// long:\` reason`);
  }
  for (const [index, line] of lines.entries()) {
    const length = Array.from(line).length;
    if (length > LINE_CHARACTERS_MAX) {
      found(index + 1, `${length} columns; at most ${LINE_CHARACTERS_MAX}`);
    }
  }
  const code = blankText(text).split("\n");
  for (const [index, line] of code.entries()) {
    if (/^(?:export\s+)?(?:let|var)\s/.test(line)) found(index + 1, "mutable state of a module");
    if (LEFT_OUT_TEST.test(line)) found(index + 1, "a test that is left out");
    const length = functionLines(code, index);
    if (length > FUNCTION_LINES_MAX) {
      found(index + 1, `a function of ${length} lines; at most ${FUNCTION_LINES_MAX}`);
    }
  }
  return violations;
}

const NAMED_FUNCTION = /^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\b/;
const METHOD = new RegExp(
  "^\\s+(?:(?:static|async|override|public|private|protected|get|set)\\s+)*" +
    "[*#]?[\\w$]+(?:<[^()]*>)?\\(",
);
const CONTROL = /^\s*(?:if|for|while|switch|catch|return|await|throw|new|describe|super)\b/;
const ARROW = /=> \{$/;

/**
 * The lines of the function whose head is in this line, or 0. The formatter is part of the
 * checks, so a body ends at the first closing brace that stands as far left as its head.
 */
function functionLines(code: readonly string[], start: number): number {
  const head = code[start] ?? "";
  if (CONTROL.test(head)) return 0;
  if (!NAMED_FUNCTION.test(head) && !METHOD.test(head) && !ARROW.test(head)) return 0;
  const indent = head.search(/\S/);
  // A one-line head opens its body; otherwise a later line at the same depth does: `): T {`.
  let open = head.trimEnd().endsWith("{");
  for (let index = start + 1; index < code.length; index++) {
    const line = code[index] ?? "";
    if (line.trim() === "" || line.search(/\S/) > indent) continue;
    if (!open && /^\s*[)>\]].*\{\s*$/.test(line)) open = true;
    else if (open && /^\s*\}/.test(line)) return index - start + 1;
    else return 0;
  }
  return 0;
}

if (import.meta.main) reportViolations("check-style", styleViolations(sourceFiles()));
