import { Errno } from "../../ffi/abi/errno.ts";
import {
  AT_EMPTY_PATH,
  AT_FDCWD,
  AT_SYMLINK_NOFOLLOW,
  O_PATH,
  S_IFDIR,
  S_IFMT,
  S_IFREG,
} from "../../ffi/abi/file.ts";
import { listDirectory } from "../../ffi/calls/directory.ts";
import { FileCalls } from "../../ffi/calls/file.ts";
import { readKernelText } from "../../ffi/calls/whole-file.ts";
import {
  absolutePath,
  type DirectoryEntry,
  joinPath,
  type PathFact,
  type PathFacts,
  type SharedFile,
} from "../plan/path-facts.ts";
import { bytesToText, textToBytes } from "../policy/byte-text.ts";
import { MountTable } from "./mount-table.ts";

const LINKS_MAX = 40;
const ROOT: PathFact = { kind: "directory", realPath: "/" };

/** Nearly every path is ASCII, which is the same in both forms. */
const ASCII = /^[\x20-\x7e]*$/;
const toBytes = (text: string): string =>
  ASCII.test(text) ? text : Buffer.from(textToBytes(text)).toString("latin1");
const toText = (bytes: string): string =>
  ASCII.test(bytes) ? bytes : bytesToText(Buffer.from(bytes, "latin1"));

/** Where faraday was started, as bytes tell it: the runtime has lost what is not UTF-8. */
export function startDirectory(): string {
  const path = new FileCalls().readlink("/proc/self/cwd");
  if (path === null) throw new Error("/proc/self/cwd cannot be read");
  return toText(path);
}

/** The disk as it is now. Answers are remembered: one start asks for the same parents often. */
export class DiskFacts implements PathFacts {
  readonly #files = new FileCalls();
  readonly #known = new Map<string, PathFact>();
  readonly #lists = new Map<string, readonly DirectoryEntry[] | null>();
  readonly #names = new Map<string, ReadonlySet<string>>();
  #mounts: MountTable | null = null;

  readonly look = (path: string): PathFact => this.#look(path, 0);

  #look(path: string, links: number): PathFact {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const fact = this.#lookAgain(path, links);
    this.#known.set(path, fact);
    return fact;
  }

  #lookAgain(path: string, links: number): PathFact {
    if (path === "/") return ROOT;
    const absent = this.#absent(path);
    if (absent !== null) return absent;
    const fd = this.#files.open(toBytes(path), O_PATH);
    if (fd >= 0) {
      const stat = this.#files.stat(fd, "", AT_EMPTY_PATH);
      const link = this.#files.readlink(`/proc/self/fd/${fd}`);
      this.#files.close(fd);
      if (stat === null || link === null) return { kind: "unreachable", realPath: path };
      const isDirectory = (stat.mode & S_IFMT) === S_IFDIR;
      return { kind: isDirectory ? "directory" : "file", realPath: toText(link) };
    }
    const isMissing = fd === -Errno.ENOENT || fd === -Errno.ENOTDIR;
    const kind = isMissing ? "missing" : "unreachable";
    return { kind, realPath: this.#realPathOfMissing(path, links) };
  }

  /** Most of what an embedded policy names is not there: one list of a directory tells it all. */
  #absent(path: string): PathFact | null {
    const slash = path.lastIndexOf("/");
    const parent = this.#known.get(path.slice(0, slash));
    if (parent === undefined) return null;
    const { kind, realPath } = parent;
    const name = path.slice(slash + 1);
    // No list has it, and it is there all the same.
    if (name === "..") return null;
    if (kind === "missing") return { kind, realPath: joinPath(realPath, name) };
    if (kind !== "directory") return null;
    const names = this.#namesIn(realPath);
    if (names === null || names.has(name)) return null;
    return { kind: "missing", realPath: joinPath(realPath, name) };
  }

  #namesIn(directory: string): ReadonlySet<string> | null {
    const known = this.#names.get(directory);
    if (known !== undefined) return known;
    const entries = this.list(directory);
    if (entries === null) return null;
    const names = new Set(entries.map(({ name }) => name));
    this.#names.set(directory, names);
    return names;
  }

  /** A dangling link leads to where its target would be. */
  #realPathOfMissing(path: string, links: number): string {
    if (links > LINKS_MAX) return path;
    const slash = path.lastIndexOf("/");
    const parent = this.#look(slash === 0 ? "/" : path.slice(0, slash), links).realPath;
    const target = this.target(path);
    if (target === null) return joinPath(parent, path.slice(slash + 1));
    return this.#look(target, links + 1).realPath;
  }

  readonly target = (path: string): string | null => {
    const target = this.#files.readlink(toBytes(path));
    if (target === null) return null;
    // `..` in a link's target is counted from where the link really is.
    const parent = this.look(path.slice(0, path.lastIndexOf("/")) || "/").realPath;
    return foldParents(absolutePath(toText(target), parent));
  };

  readonly list = (directory: string): readonly DirectoryEntry[] | null => {
    const known = this.#lists.get(directory);
    if (known !== undefined) return known;
    const entries = listDirectory(this.#files, toBytes(directory));
    const list =
      typeof entries === "number"
        ? null
        : entries.map(({ name, kind }) => ({ name: toText(name), kind }));
    this.#lists.set(directory, list);
    return list;
  };

  readonly foldsCase = (directory: string): boolean => {
    const names = this.#namesIn(directory) ?? new Set();
    const name = Array.from(names).find((each) => otherCase(each) !== each);
    if (name === undefined) {
      // A directory has this from the one that it was made in.
      const slash = directory.lastIndexOf("/");
      return directory !== "/" && this.foldsCase(directory.slice(0, slash) || "/");
    }
    const other = otherCase(name);
    if (names.has(other)) return false;
    const path = toBytes(joinPath(directory, other));
    return this.#files.stat(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW) !== null;
  };

  readonly otherPlaces = (path: string): readonly string[] => {
    this.#mounts ??= new MountTable(readKernelText("/proc/self/mountinfo") ?? "");
    return this.#mounts.otherPlaces(toBytes(path)).map(toText);
  };

  readonly sharedFile = (path: string, entriesMax: number): SharedFile => {
    if (this.look(path).kind === "missing") return { kind: "none" };
    const pending = [path];
    for (let count = 0; pending.length > 0; count++) {
      if (count >= entriesMax) return { kind: "too-many" };
      const next = pending.pop() ?? "";
      const stat = this.#files.stat(AT_FDCWD, toBytes(next), AT_SYMLINK_NOFOLLOW);
      const type = (stat?.mode ?? 0) & S_IFMT;
      if (type === S_IFREG && (stat?.links ?? 1) > 1) return { kind: "found", path: next };
      if (type !== S_IFDIR) continue;
      for (const { name } of this.list(next) ?? []) pending.push(joinPath(next, name));
    }
    return { kind: "none" };
  };
}

function otherCase(name: string): string {
  const upper = name.replace(/[a-z]/g, (letter) => letter.toUpperCase());
  return upper === name ? name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : upper;
}

function foldParents(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
