/** One line of a script: `[condition] ! command word…`. */
export interface ScriptLine {
  readonly number: number;
  readonly source: string;
  readonly condition: string | null;
  /** `!` before a command: it must fail, or must not match. */
  readonly negated: boolean;
  readonly words: readonly ScriptWord[];
}

/** Quoted pieces are taken as they are; in the others `$NAME` is replaced. */
export type ScriptWord = readonly { readonly text: string; readonly quoted: boolean }[];

export interface Script {
  readonly lines: readonly ScriptLine[];
  readonly files: ReadonlyMap<string, string>;
}

const SECTION = /^-- (\S.*?) --$/;

/**
 * Reads a txtar archive: commands first, then `-- name --` sections that become files. The format
 * is that of Go's testscript, as far as these tests need it.
 */
export function parseScript(text: string): Script {
  const files = new Map<string, string>();
  const lines: ScriptLine[] = [];
  let section: string | null = null;
  for (const [index, source] of text.replace(/\n$/, "").split("\n").entries()) {
    const name = SECTION.exec(source)?.[1];
    if (name !== undefined) {
      section = name;
      files.set(name, "");
    } else if (section !== null) {
      files.set(section, `${files.get(section)}${source}\n`);
    } else {
      const line = parseLine(source, index + 1);
      if (line !== null) lines.push(line);
    }
  }
  return { lines, files };
}

function parseLine(source: string, number: number): ScriptLine | null {
  const trimmed = source.trim();
  if (trimmed === "" || trimmed.startsWith("#")) return null;
  const match = /^(?:\[(!?\w+)\]\s+)?(?:(!)\s+)?(.*)$/.exec(trimmed);
  return {
    number,
    source: trimmed,
    condition: match?.[1] ?? null,
    negated: match?.[2] !== undefined,
    words: splitWords(match?.[3] ?? "", number),
  };
}

/** Words are parted by blanks; `'…'` quotes, and `''` inside stands for one quote. */
function splitWords(text: string, number: number): ScriptWord[] {
  const words: { text: string; quoted: boolean }[][] = [];
  const pieces = text.matchAll(/(\s+)|'((?:[^']|'')*)'|([^\s']+)|(')/g);
  let inWord = false;
  for (const [, blank, quoted, plain, stray] of pieces) {
    if (stray !== undefined) throw new Error(`line ${number}: a quote that is not closed`);
    if (blank !== undefined) {
      inWord = false;
      continue;
    }
    if (!inWord) words.push([]);
    inWord = true;
    if (quoted !== undefined)
      words.at(-1)?.push({ text: quoted.replaceAll("''", "'"), quoted: true });
    if (plain !== undefined) words.at(-1)?.push({ text: plain, quoted: false });
  }
  return words;
}
