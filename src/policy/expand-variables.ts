import type { ProblemList } from "./problem-list.ts";
import type { SourceText } from "./source-text.ts";
import type { TomlString } from "./toml-tree.ts";

export type Environment = (name: string) => string | undefined;

/** `$${` is an escape: it stands for `${`. A `$` before anything else is only a `$`. */
const REFERENCE = /(\$?)\$\{([^}]*)(\}?)/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export interface ExpandContext {
  readonly source: SourceText;
  readonly problems: ProblemList;
  readonly env: Environment;
}

/**
 * Puts the environment's values in place of `${NAME}`. What is inserted is data: `quote` makes it
 * literal where the string is a pattern, so a directory named `a*` does not become a wildcard.
 * An empty value is an error like a missing one: `${PROJECT}/**` must not become the whole disk.
 */
export function expandVariables(
  node: TomlString,
  context: ExpandContext,
  quote: (value: string) => string,
): string | null {
  if (!node.value.includes("${")) return node.value;
  let failed = false;
  const fail = (reference: string, report: (start: number, end: number) => void): string => {
    failed = true;
    report(...locate(context.source, node, reference));
    return "";
  };
  const { source, problems, env } = context;
  const text = node.value.replace(REFERENCE, (whole, twice: string, name: string, end: string) => {
    if (twice !== "") return whole.slice(1);
    if (end === "" || !NAME.test(name)) {
      return fail(whole, (from, to) =>
        problems.error(
          "bad-value",
          source.span(from, to),
          `\`${whole}\` is not a variable`,
          `write \`\${NAME}\`, or \`$\${\` for the characters themselves`,
        ),
      );
    }
    const value = env(name);
    if (value !== undefined && value !== "") return quote(value);
    const state = value === "" ? "empty" : "not set";
    return fail(whole, (from, to) =>
      problems.error(
        "undefined-variable",
        source.span(from, to),
        `the environment variable ${name} is ${state}`,
        `set ${name}, or write \`$\${${name}}\` for the characters themselves`,
      ),
    );
  });
  return failed ? null : text;
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
