export type Row = readonly string[];

/** The first column is text, the others are numbers. */
export function textTable(title: string, head: Row, rows: readonly Row[]): string {
  const widths = head.map((_, at) =>
    Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)),
  );
  const line = (row: Row): string =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join("  ");
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [title, "", line(head), rule, ...rows.map(line), ""].join("\n");
}
