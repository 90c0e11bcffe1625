/** A stretch of text in one style. */
export interface StyledText {
  readonly text: string;
  readonly bold: boolean;
  readonly faint: boolean;
  /** The colour's number as in `ESC[3Nm`, or null for the terminal's own. */
  readonly color: number | null;
}

type Style = Omit<StyledText, "text">;
const PLAIN: Style = { bold: false, faint: false, color: null };

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const SEQUENCE = /\u001b\[([0-9;]*)m/;

/** Reads a line of a terminal; sequences other than colours and weights are our own mistake. */
export function readStyledText(line: string): readonly StyledText[] {
  const parts = line.split(SEQUENCE);
  const texts: StyledText[] = [];
  let style = PLAIN;
  for (const [index, part] of parts.entries()) {
    // Between every two texts, split() puts what the sequence's parentheses caught.
    if (index % 2 === 1) style = part.split(";").reduce(applyCode, style);
    else if (part !== "") texts.push({ ...style, text: part });
  }
  const odd = texts.find(({ text }) => text.includes("\u001b"));
  if (odd !== undefined) throw new Error(`an unknown sequence: ${JSON.stringify(odd.text)}`);
  return texts;
}

function applyCode(style: Style, code: string): Style {
  const number = Number(code);
  if (number === 0) return PLAIN;
  if (number === 1) return { ...style, bold: true };
  if (number === 2) return { ...style, faint: true };
  if (number >= 30 && number <= 37) return { ...style, color: number - 30 };
  throw new Error(`an unknown colour: ${code}`);
}

export const plainText = (texts: readonly StyledText[]): string =>
  texts.map(({ text }) => text).join("");
