import type { Diagnostic, Span } from "../policy/diagnostic.ts";
import { escapeControl } from "../policy/escape-control.ts";
import { type Paint, painter } from "./color.ts";

const TAB_CELLS = 4;
/** A line longer than this is cut around the caret: a policy may be one line of a megabyte. */
const EXCERPT_CELLS_MAX = 160;
const EXCERPT_CELLS_BEFORE = 40;

/**
 * All of them as text, each followed by a newline, with a count at the end when there are several.
 */
export function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  options: { readonly color: boolean },
): string {
  const blocks = diagnostics.map((diagnostic) => renderDiagnostic(diagnostic, options));
  if (blocks.length > 1) blocks.push(`${countLine(diagnostics)}\n`);
  return blocks.join("\n");
}

/** What happened, where, and how to fix it. */
export function renderDiagnostic(
  diagnostic: Diagnostic,
  options: { readonly color: boolean },
): string {
  const { severity, code, message, span, hint } = diagnostic;
  const paint = painter(options);
  const label = paint(severity, `${severity}[${code}]`);
  const lines = [`${label}${paint("bold", `: ${escapeControl(message)}`)}`];
  if (span !== null) lines.push(...renderSpan(span, severity, paint));
  if (hint !== null) lines.push(`${paint("hint", "hint")}: ${escapeControl(hint)}`);
  return `${lines.join("\n")}\n`;
}

function renderSpan(span: Span, severity: Diagnostic["severity"], paint: Paint): string[] {
  const number = String(span.line);
  const gutter = " ".repeat(number.length);
  const { text, caretColumn, caretCells } = excerpt(span);
  const bar = paint("faint", "|");
  const caret = paint(severity, "^".repeat(caretCells));
  const arrow = paint("faint", "-->");
  const place = `${escapeControl(span.file)}:${span.line}:${span.column}`;
  return [
    `${gutter}${arrow} ${place}`,
    `${paint("faint", number)} ${bar} ${text}`.trimEnd(),
    `${gutter} ${bar} ${" ".repeat(caretColumn)}${caret}`,
  ];
}

interface Excerpt {
  readonly text: string;
  /** In terminal cells, from 0. */
  readonly caretColumn: number;
  readonly caretCells: number;
}

/** The line as a terminal shows it, with the caret measured in cells instead of characters. */
function excerpt(span: Span): Excerpt {
  const characters = Array.from(span.text);
  // Whoever made the span may point behind the end of the line (a value that is missing there).
  const from = Math.min(Math.max(span.column - 1, 0), characters.length);
  const to = Math.min(from + Math.max(span.length, 1), characters.length);
  const cells = showCharacters(characters);
  const width = (start: number, end: number) => Bun.stringWidth(cells.slice(start, end).join(""));

  const first = skipBefore(cells, from);
  const cutBefore = first > 0 ? "…" : "";
  const end = takeCells(cells, first);
  const cutAfter = end < cells.length ? "…" : "";
  const caretEnd = Math.min(to, end);
  return {
    text: `${cutBefore}${cells.slice(first, end).join("")}${cutAfter}`,
    caretColumn: cutBefore.length + width(first, from),
    caretCells: Math.max(1, width(from, caretEnd)),
  };
}

/** Each character as it is printed: tabs as spaces up to the next stop, controls escaped. */
function showCharacters(characters: readonly string[]): readonly string[] {
  let column = 0;
  return characters.map((character) => {
    const shown =
      character === "\t" ? " ".repeat(TAB_CELLS - (column % TAB_CELLS)) : escapeControl(character);
    column += Bun.stringWidth(shown);
    return shown;
  });
}

/** Where to begin, so that the caret is in view; 0 for every line of common length. */
function skipBefore(cells: readonly string[], from: number): number {
  const total = Bun.stringWidth(cells.join(""));
  if (total <= EXCERPT_CELLS_MAX) return 0;
  let first = from;
  let before = 0;
  while (first > 0) {
    before += Bun.stringWidth(cells[first - 1] ?? "");
    if (before > EXCERPT_CELLS_BEFORE) break;
    first--;
  }
  return first;
}

function takeCells(cells: readonly string[], first: number): number {
  let end = first;
  let taken = 0;
  while (end < cells.length) {
    taken += Bun.stringWidth(cells[end] ?? "");
    if (taken > EXCERPT_CELLS_MAX) break;
    end++;
  }
  return end;
}

function countLine(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const warnings = diagnostics.length - errors;
  const counts = [count(errors, "error"), count(warnings, "warning")];
  return counts.filter((text) => text !== null).join(", ");
}

function count(number: number, noun: string): string | null {
  if (number === 0) return null;
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
