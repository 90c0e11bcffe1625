/**
 * TypeScript with everything that is not code blanked out: comments, and the insides of strings,
 * templates and regular expressions. Lines and columns stay where they are. The checks need to
 * know code from prose, not to understand it, so this is no parser.
 */
export function blankText(source: string): string {
  const out: string[] = Array.from({ length: source.length }, (_, i) =>
    source[i] === "\n" ? "\n" : " ",
  );
  // One entry for each template we are inside of: the depth of braces in its `${…}`.
  const templates: number[] = [];
  let at = 0;
  while (at < source.length) {
    const character = source[at] ?? "";
    const end = endOfProse(source, at, out);
    if (end > at) {
      out[at] = character === "/" ? " " : character;
      at = end;
      continue;
    }
    const depth = templates.at(-1);
    if (character === "`" || (character === "}" && depth === 0)) {
      if (character === "}") templates.pop();
      at = templateEnd(source, at + 1);
      if (source[at - 1] === "{") templates.push(0);
      continue;
    }
    if (depth !== undefined && (character === "{" || character === "}")) {
      templates[templates.length - 1] = depth + (character === "{" ? 1 : -1);
    }
    out[at] = character;
    at++;
  }
  return out.join("");
}

/** Behind the comment, string or regular expression that begins here; `at` if there is none. */
function endOfProse(source: string, at: number, code: readonly string[]): number {
  const two = source.slice(at, at + 2);
  if (two === "//") return indexOrEnd(source, "\n", at);
  if (two === "/*") return indexOrEnd(source, "*/", at + 2) + 2;
  const quote = source[at];
  if (quote === '"' || quote === "'") return literalEnd(source, at + 1, quote);
  if (quote === "/" && beginsRegex(code, at)) return regexEnd(source, at + 1);
  return at;
}

function indexOrEnd(source: string, needle: string, from: number): number {
  const index = source.indexOf(needle, from);
  return index === -1 ? source.length : index;
}

function literalEnd(source: string, from: number, quote: string): number {
  for (let at = from; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === quote || source[at] === "\n") return at + 1;
  }
  return source.length;
}

function regexEnd(source: string, from: number): number {
  let inClass = false;
  for (let at = from; at < source.length; at++) {
    const character = source[at];
    if (character === "\\") at++;
    else if (character === "[") inClass = true;
    else if (character === "]") inClass = false;
    else if (character === "\n" || (character === "/" && !inClass)) return at + 1;
  }
  return source.length;
}

/** A slash divides behind a value and begins a regular expression anywhere else. */
function beginsRegex(code: readonly string[], at: number): boolean {
  const before = code
    .slice(Math.max(0, at - 200), at)
    .join("")
    .trimEnd();
  return before === "" || /[([{,;:=!&|?+\-*%<>~^]$|\b(?:return|case|typeof|in|of)$/.test(before);
}

/** Behind the closing backtick, or behind the `${` that interrupts the template. */
function templateEnd(source: string, from: number): number {
  for (let at = from; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === "`") return at + 1;
    else if (source[at] === "$" && source[at + 1] === "{") return at + 2;
  }
  return source.length;
}
