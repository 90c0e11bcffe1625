/** What is at a path, links followed. */
export interface PathFact {
  readonly kind: "directory" | "file" | "missing" | "unreachable";
  /** Without links; for what is missing, the path with the links of its existing part resolved. */
  readonly realPath: string;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: "directory" | "file" | "link";
}

/**
 * The disk, as far as a seal has to know it. A parameter, so that planning stays free of effects.
 * Paths are absolute and lossless text (`policy/byte-text.ts`).
 */
export interface PathFacts {
  readonly look: (path: string) => PathFact;
  /** Null if it cannot be listed. Links are told as links. */
  readonly list: (directory: string) => readonly DirectoryEntry[] | null;
  /** Where a link says that it leads, as an absolute path; null for what is no link. */
  readonly target: (path: string) => string | null;
  /** Whether names that differ in case are one name there. */
  readonly foldsCase: (directory: string) => boolean;
  /** Other paths to the same place, by mounts of the same file system. */
  readonly otherPlaces: (path: string) => readonly string[];
  /** Looks for a file with more than one name, at `path` or below it, among so many. */
  readonly sharedFile: (path: string, entriesMax: number) => SharedFile;
}

export type SharedFile =
  | { readonly kind: "none" | "too-many" }
  | { readonly kind: "found"; readonly path: string };

/** True if `path` is `root` or lies below it. */
export function isBeneath(path: string, root: string): boolean {
  if (root === "/" || path === root) return true;
  return path.startsWith(root) && path.charCodeAt(root.length) === 0x2f;
}

export function joinPath(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** Relative, or with an empty or `.` segment. */
const UNFOLDED = /^[^/]|\/\.?(?:\/|$)/;

/** An absolute path without empty and `.` segments; `..` has been refused before. */
export function absolutePath(path: string, cwd: string): string {
  if (path !== "" && !UNFOLDED.test(path)) return path;
  const whole = path.startsWith("/") ? path : `${cwd}/${path}`;
  return `/${whole
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/")}`;
}
