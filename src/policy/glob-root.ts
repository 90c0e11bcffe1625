import type { GlobToken } from "./glob-pattern.ts";

/** What a glob comes to where only whole subtrees can be granted. */
export interface GlobRoot {
  /** The longest path before the first wildcard, without a trailing slash; `.` if there is none. */
  readonly path: string;
  /**
   * `path`: the glob has no wildcard. `subtree`: it is the path and `/**`, so the subtree says
   * exactly the same. `widened`: the subtree is more than the glob.
   */
  readonly kind: "path" | "subtree" | "widened";
}

export function globRoot(tokens: readonly GlobToken[]): GlobRoot {
  const [first, second] = tokens;
  const text = first?.kind === "text" ? first.text : "";
  if (tokens.length <= 1 && (first === undefined || first.kind === "text")) {
    return { path: trimSlash(text), kind: "path" };
  }
  const slash = text.lastIndexOf("/");
  const path = slash < 0 ? "." : trimSlash(text.slice(0, slash + 1));
  const wholeSegment = first?.kind !== "text" || slash === text.length - 1;
  const wildcard = first?.kind === "text" ? second : first;
  const last = tokens.length === (first?.kind === "text" ? 2 : 1);
  const everything = last && wholeSegment && wildcard?.kind === "globstar";
  return { path, kind: everything ? "subtree" : "widened" };
}

function trimSlash(path: string): string {
  const trimmed = path.replace(/\/+$/, "");
  if (trimmed !== "") return trimmed;
  return path === "" ? "." : "/";
}
