/** A place in a source text, born in the parser and carried to whoever reports it. */
export interface Span {
  /** The file as the user named it, or `builtin:default`, or `<command line>`. */
  readonly file: string;
  /** 1-based; the column counts characters, not bytes. */
  readonly line: number;
  readonly column: number;
  /** How many characters the caret underlines; at least 1. */
  readonly length: number;
  /** The whole source line, for the excerpt. */
  readonly text: string;
}

/** What is wrong (or doubtful) in a policy. Data only: `cli/` renders it. */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  /** A stable kebab-case name, such as `unknown-key`. */
  readonly code: string;
  readonly message: string;
  readonly span: Span | null;
  /** How to fix it, as one sentence or one line of policy. */
  readonly hint: string | null;
}
