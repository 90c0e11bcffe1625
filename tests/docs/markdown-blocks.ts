import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../../scripts/source-files.ts";

export interface Block {
  /** The word behind the fence: `console`, `toml`, `json`. */
  readonly language: string;
  readonly text: string;
  /** Of the first line inside, in the document. */
  readonly line: number;
}

export const readDocument = (path: string): string => readFileSync(join(REPOSITORY, path), "utf8");

/** The fenced blocks of a document, from the top down. */
export function blocksOf(markdown: string, language: string): readonly Block[] {
  return Array.from(markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm))
    .map((match) => ({
      language: match[1] ?? "",
      text: match[2] ?? "",
      line: markdown.slice(0, match.index).split("\n").length + 1,
    }))
    .filter((block) => block.language === language);
}

/** The rows of the tables below a heading, cell by cell, without heads and rules. */
export function tableRows(markdown: string, heading: string): readonly (readonly string[])[] {
  const section = markdown.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}\n`));
  if (section === undefined) throw new Error(`no section ${heading}`);
  return section.split(/\n(?!\|)/).flatMap((part) => {
    const [, ...lines] = part
      .trim()
      .split("\n")
      .filter((line) => line.startsWith("|"));
    return lines.slice(1).map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  });
}
