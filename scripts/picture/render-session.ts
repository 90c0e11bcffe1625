import type { Exchange } from "./session.ts";
import { readStyledText, type StyledText } from "./styled-text.ts";

const COLUMNS = 108;
const CELL_WIDTH = 8.4;
const LINE_HEIGHT = 20;
const FONT_SIZE = 14;
const MARGIN = 22;
const TITLE_HEIGHT = 40;

const PAPER = "#0d1117";
const INK = "#d6dde6";
const FRAME = "#3d444d";
const TITLE_PAPER = "#161b22";
const PROMPT = "#3fb950";
const FAINT = "#8b949e";
/** Black, red, green, yellow, blue, magenta, cyan, white. */
const COLORS = [
  ...["#6e7681", "#ff7b72", "#3fb950", "#e3b341"],
  ...["#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc"],
];

/** The lines of a session as the picture shows them, wrapped as a terminal does. */
export function sessionLines(session: readonly Exchange[]): readonly (readonly StyledText[])[] {
  const lines = session.flatMap(({ command, output }, index) => [
    ...(index === 0 ? [] : [[]]),
    [...readStyledText("\u001b[1;32m$\u001b[0m "), ...readStyledText(`\u001b[1m${command}`)],
    ...output.map(readStyledText),
  ]);
  return lines.flatMap(wrapLine);
}

function wrapLine(line: readonly StyledText[]): readonly (readonly StyledText[])[] {
  const rows: StyledText[][] = [[]];
  let used = 0;
  for (const part of line) {
    for (const character of part.text) {
      if (used === COLUMNS) {
        rows.push([]);
        used = 0;
      }
      const row = rows.at(-1) ?? [];
      const last = row.at(-1);
      const isSame = last !== undefined && last.color === part.color && last.bold === part.bold;
      if (isSame) row[row.length - 1] = { ...last, text: last.text + character };
      else row.push({ ...part, text: character });
      used += 1;
    }
  }
  return rows;
}

/** A terminal window as SVG. */
export function renderSession(session: readonly Exchange[], title: string): string {
  const lines = sessionLines(session);
  const width = Math.round(COLUMNS * CELL_WIDTH + 2 * MARGIN);
  const height = TITLE_HEIGHT + lines.length * LINE_HEIGHT + 2 * MARGIN - 8;
  const rows = lines.flatMap((line, row) => {
    const y = TITLE_HEIGHT + MARGIN + row * LINE_HEIGHT + FONT_SIZE - 4;
    return line.length === 0 ? [] : [renderLine(line, y)];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" \
viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">
<style>
text { font: ${FONT_SIZE}px ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", Menlo, \
Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; fill: ${INK}; white-space: pre }
.title { fill: ${FAINT} }
.faint { fill: ${FAINT} }
.bold { font-weight: 600 }
.prompt { fill: ${PROMPT} }
${COLORS.map((color, index) => `.c${index} { fill: ${color} }`).join("\n")}
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="${PAPER}" \
stroke="${FRAME}"/>
<path d="M1 ${TITLE_HEIGHT}V10.5A9.5 9.5 0 0 1 10.5 1H${width - 10.5}A9.5 9.5 0 0 1 ${width - 1} \
10.5V${TITLE_HEIGHT}Z" fill="${TITLE_PAPER}"/>
${["#ff5f57", "#febc2e", "#28c840"]
  .map((fill, index) => `<circle cx="${22 + index * 20}" cy="20.5" r="6" fill="${fill}"/>`)
  .join("\n")}
<text class="title" x="${width / 2}" y="25" text-anchor="middle">${escapeXml(title)}</text>
<g class="screen" xml:space="preserve">
${rows.join("\n")}
</g>
</svg>
`;
}

/** Each stretch has its own place and length, so that columns hold in any font. */
function renderLine(line: readonly StyledText[], y: number): string {
  let column = 0;
  const spans = line.map((part) => {
    const length = Array.from(part.text).length;
    const x = round(MARGIN + column * CELL_WIDTH);
    column += length;
    const names = [
      part.color === null ? "" : `c${part.color}`,
      part.bold ? "bold" : "",
      part.faint ? "faint" : "",
    ].filter((name) => name !== "");
    const style = names.length === 0 ? "" : ` class="${names.join(" ")}"`;
    const size = `textLength="${round(length * CELL_WIDTH)}" lengthAdjust="spacingAndGlyphs"`;
    return `<tspan${style} x="${x}" ${size}>${escapeXml(part.text)}</tspan>`;
  });
  return `<text y="${y}">${spans.join("")}</text>`;
}

/** The text of a picture that renderSession() made, a line each. */
export function textOfPicture(svg: string): readonly string[] {
  const screen = /<g class="screen"[^>]*>\n([\s\S]*?)<\/g>/.exec(svg)?.[1] ?? "";
  return Array.from(screen.matchAll(/<text [^>]*>(.*?)<\/text>/g), ([, line = ""]) =>
    line
      .replace(/<[^>]*>/g, "")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&amp;", "&"),
  );
}

const round = (value: number): number => Math.round(value * 10) / 10;

function escapeXml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
