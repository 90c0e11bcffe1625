import type { Span } from "./diagnostic.ts";

/** A policy file's text with an index of its lines, so that offsets become spans. */
export class SourceText {
  readonly name: string;
  readonly text: string;
  readonly #lineStarts: number[];

  constructor(name: string, text: string) {
    this.name = name;
    // A byte order mark would shift every column of the first line by one.
    this.text = text.startsWith("\uFEFF") ? text.slice(1) : text;
    this.#lineStarts = [0];
    for (let at = this.text.indexOf("\n"); at >= 0; at = this.text.indexOf("\n", at + 1)) {
      this.#lineStarts.push(at + 1);
    }
  }

  /** The span from one offset up to another; what reaches over its first line is cut there. */
  span(start: number, end: number): Span {
    const line = this.#lineAt(start);
    const lineStart = this.#lineStarts[line] ?? 0;
    const text = this.#lineText(line);
    const column = characters(this.text.slice(lineStart, start)) + 1;
    const stop = Math.min(end, lineStart + text.length);
    const length = Math.max(1, characters(this.text.slice(start, stop)));
    return { file: this.name, line: line + 1, column, length, text };
  }

  /** The first line that says something, for what is wrong with the file as a whole. */
  firstLine(): Span {
    return this.span(0, 0);
  }

  #lineAt(offset: number): number {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #lineText(line: number): string {
    const start = this.#lineStarts[line] ?? 0;
    const next = this.#lineStarts[line + 1];
    const end = next === undefined ? this.text.length : next - 1;
    const text = this.text.slice(start, end);
    return text.endsWith("\r") ? text.slice(0, -1) : text;
  }
}

/** Columns count characters: an emoji before the mistake must not push the caret aside. */
function characters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xdc00 && unit <= 0xdfff && i > 0) {
      const before = text.charCodeAt(i - 1);
      if (before >= 0xd800 && before <= 0xdbff) count--;
    }
  }
  return count;
}
