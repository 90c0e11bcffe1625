import type { ProblemList } from "./problem-list.ts";
import type { SourceText } from "./source-text.ts";
import type { TomlString } from "./toml-tree.ts";

export type Environment = (name: string) => string | undefined;

/** `$${` is an escape: it stands for `${`. A `$` before anything else is only a `$`. */
const REFERENCE = /(\$?)\$\{([^}]*)(\}?)/g;
/** A name, and what stands for it where it is not set. */
const NAME = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

export interface ExpandContext {
  readonly source: SourceText;
  readonly problems: ProblemList;
  readonly env: Environment;
}

/** A reference that stands for nothing, as written; `name` is null if it is not one at all. */
export type OnFailure = (reference: string, name: string | null, isEmpty: boolean) => void;

/**
 * Puts the environment's values in place of `${NAME}` and `${NAME:-otherwise}`. What is inserted is
 * data: `quote` makes it literal where the string is a pattern, so a directory named `a*` does not
 * become a wildcard. Null if anything failed.
 */
export function substitute(
  text: string,
  env: Environment,
  quote: (value: string) => string,
  onFailure: OnFailure,
): string | null {
  if (!text.includes("${")) return text;
  let failed = false;
  const whole = text.replace(REFERENCE, (reference, twice: string, inside: string, end: string) => {
    if (twice !== "") return reference.slice(1);
    const [, name, otherwise] = (end === "" ? null : NAME.exec(inside)) ?? [];
    const value = name === undefined ? undefined : env(name);
    if (value !== undefined && value !== "") return quote(value);
    if (otherwise !== undefined) return otherwise;
    failed = true;
    onFailure(reference, name ?? null, value === "");
    return "";
  });
  return failed ? null : whole;
}

/** An empty value is an error like a missing one: `${PROJECT}/**` must not be the whole disk. */
export function expandVariables(
  node: TomlString,
  context: ExpandContext,
  quote: (value: string) => string,
): string | null {
  const { source, problems, env } = context;
  return substitute(node.value, env, quote, (reference, name, isEmpty) => {
    const span = source.span(...locate(source, node, reference));
    if (name === null) {
      const hint = `write \`\${NAME}\`, or \`$\${\` for the characters themselves`;
      problems.error("bad-value", span, `\`${reference}\` is not a variable`, hint);
      return;
    }
    problems.error(
      "undefined-variable",
      span,
      `the environment variable ${name} is ${isEmpty ? "empty" : "not set"}`,
      `set ${name}, or write \`$\${${name}}\` for the characters themselves`,
    );
  });
}

/** A reference as it stands in the source; where escapes hide it, the whole string. */
function locate(source: SourceText, node: TomlString, reference: string): [number, number] {
  const raw = source.text.slice(node.start, node.end);
  for (let at = raw.indexOf(reference); at >= 0; at = raw.indexOf(reference, at + 1)) {
    // The same reference, escaped, may stand before the one that is meant.
    if (raw[at - 1] !== "$") return [node.start + at, node.start + at + reference.length];
  }
  return [node.start, node.end];
}

/** For strings that are not patterns. */
export function verbatim(value: string): string {
  return value;
}
