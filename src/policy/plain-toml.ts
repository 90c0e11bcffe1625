/**
 * Reads the TOML that policies are nearly always written in: headers and bare keys of one part,
 * strings without escapes, lists, plain numbers. The full parser takes 10 ms for 50 rules in a
 * cold process, half of what a run may take to start; this takes one. It never judges: at
 * anything else, right or wrong, it gives up, and the full parser reads the file instead.
 */
import type { TomlNode, TomlTable } from "./toml-tree.ts";

/** The tree that the full parser would build, or null if the text needs the full parser. */
export function readPlainToml(text: string): TomlTable | null {
  // Controls, lone carriage returns and broken characters are for the full parser to refuse.
  if (/(?![\t\n\r])\p{Cc}|\r(?!\n)/u.test(text) || !text.isWellFormed()) return null;
  return new PlainReader(text).read();
}

const BARE_KEY = /[A-Za-z0-9_-]+/y;
const SPACE = /[ \t]*/y;
/** What may follow a value or header on its line. */
const LINE_END = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;
/** Blank lines and comments. */
const FILLING = /(?:[ \t\r\n]|#[^\n]*(?:\n|$))*/y;
/** Strings of one line without escapes; a third quote would start one of several lines. */
const STRING = /"([^"\\\n\r]*)"(?!")|'([^'\n\r]*)'(?!')/y;
const INTEGER = /(?:0|[1-9][0-9]{0,14})(?![\w.:+-])/y;
const BOOLEAN = /(?:true|false)(?![\w-])/y;

class PlainReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): TomlTable | null {
    const root: TomlTable = { type: "table", entries: new Map(), start: 0, end: this.#text.length };
    let table = root;
    for (;;) {
      this.#skip(FILLING);
      if (this.#at >= this.#text.length) return root;
      if (this.#text[this.#at] === "[") {
        const next = this.#header(root);
        if (next === null) return null;
        table = next;
      } else if (!this.#assignment(table)) return null;
      if (this.#take(LINE_END) === null) return null;
    }
  }

  #header(root: TomlTable): TomlTable | null {
    const repeated = this.#text.startsWith("[[", this.#at);
    this.#at += repeated ? 2 : 1;
    const start = this.#at;
    const key = this.#take(BARE_KEY);
    if (key === null) return null;
    const end = this.#at;
    const close = repeated ? "]]" : "]";
    if (!this.#text.startsWith(close, this.#at)) return null;
    this.#at += close.length;
    const table: TomlTable = { type: "table", entries: new Map(), start, end };
    const present = root.entries.get(key)?.value;
    if (present === undefined) {
      const value: TomlNode = repeated ? { type: "array", elements: [table], start, end } : table;
      root.entries.set(key, { key, keyStart: start, keyEnd: end, value });
      return table;
    }
    // A list that was assigned cannot be added to by headers.
    if (!repeated || present.type !== "array" || this.#text[present.start] === "[") return null;
    present.elements.push(table);
    return table;
  }

  #assignment(table: TomlTable): boolean {
    const keyStart = this.#at;
    const key = this.#take(BARE_KEY);
    if (key === null || table.entries.has(key)) return false;
    const keyEnd = this.#at;
    this.#skip(SPACE);
    if (this.#text[this.#at] !== "=") return false;
    this.#at++;
    this.#skip(SPACE);
    const value = this.#text[this.#at] === "[" ? this.#list() : this.#scalar();
    if (value === null) return false;
    table.entries.set(key, { key, keyStart, keyEnd, value });
    return true;
  }

  #list(): TomlNode | null {
    const start = this.#at;
    const elements: TomlNode[] = [];
    this.#at++;
    for (;;) {
      this.#skip(FILLING);
      if (this.#text[this.#at] === "]") break;
      const element = this.#scalar();
      if (element === null) return null;
      elements.push(element);
      this.#skip(FILLING);
      if (this.#text[this.#at] === ",") this.#at++;
      else if (this.#text[this.#at] !== "]") return null;
    }
    this.#at++;
    return { type: "array", elements, start, end: this.#at };
  }

  #scalar(): TomlNode | null {
    const start = this.#at;
    STRING.lastIndex = start;
    const string = STRING.exec(this.#text);
    if (string !== null) {
      this.#at = STRING.lastIndex;
      const value = string[1] ?? string[2] ?? "";
      return { type: "string", value, start, end: this.#at };
    }
    const integer = this.#take(INTEGER);
    if (integer !== null) return { type: "integer", value: Number(integer), start, end: this.#at };
    const boolean = this.#take(BOOLEAN);
    if (boolean === null) return null;
    return { type: "boolean", value: boolean === "true", start, end: this.#at };
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return null;
    const taken = this.#text.slice(this.#at, pattern.lastIndex);
    this.#at = pattern.lastIndex;
    return taken;
  }

  #skip(pattern: RegExp): void {
    this.#take(pattern);
  }
}
