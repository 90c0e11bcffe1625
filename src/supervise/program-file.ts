import { Errno } from "../../ffi/abi/errno.ts";
import {
  AT_EMPTY_PATH,
  AT_FDCWD,
  O_PATH,
  RESOLVE_NO_MAGICLINKS,
  RESOLVE_NO_SYMLINKS,
} from "../../ffi/abi/file.ts";
import type { FileCalls, FileStat } from "../../ffi/calls/file.ts";

const LINKS_MAX = 40;
const LINKED_MAX = 1024;
const DOT_DOT = /\/\.\.(?:\/|$)/;
const MEMFD = "/memfd:";
/** What /proc adds to the name of a file that has none any more. */
export const DELETED = " (deleted)";

/**
 * A file held by an O_PATH descriptor, so that its inode cannot be reused while it is judged. What
 * was judged before is not held (NOT_HELD): what started is compared with all of it instead.
 */
export interface ProgramFile {
  readonly fd: number;
  /** One character a byte: the path, `memfd:NAME`, or `/path (deleted)`. */
  readonly realPath: string;
  readonly kind: "file" | "memfd" | "deleted";
  readonly stat: FileStat;
}

export const NOT_HELD = -1;

export interface PathView {
  /** Whose view of /proc/self and of relative paths. */
  readonly tid: number;
  readonly tgid: number;
}

/** The name that /proc gives a file, told apart from a file that merely looks so. */
export function nameOfLink(
  link: string,
  stat: FileStat,
): { realPath: string; kind: ProgramFile["kind"] } {
  if (stat.links > 0) return { realPath: link, kind: "file" };
  if (link.startsWith(MEMFD)) {
    const name = link.slice(1, link.endsWith(DELETED) ? -DELETED.length : undefined);
    return { realPath: name, kind: "memfd" };
  }
  return { realPath: link.endsWith(DELETED) ? link : link + DELETED, kind: "deleted" };
}

/** Finds the file that a caller means by a path. */
export class ProgramFinder {
  readonly #files: FileCalls;
  /** Paths that were seen to go through links, as /bin/sh does almost everywhere. */
  readonly #linked = new Set<string>();

  constructor(files: FileCalls) {
    this.#files = files;
  }

  /** `path` is absolute, or relative to the `base` directory. A negated errno if there is none. */
  find(path: string, view: PathView, base: string): ProgramFile | number {
    const absolute = path.startsWith("/") ? path : `${base}/${path}`;
    const isLinked = this.#linked.has(absolute);
    const plain = isLinked ? -Errno.ELOOP : this.#open(absolute, RESOLVE_NO_SYMLINKS);
    if (plain >= 0) return this.#holdPlain(plain, absolute);
    const fd = plain === -Errno.ELOOP ? this.#open(absolute, RESOLVE_NO_MAGICLINKS) : plain;
    if (fd >= 0) {
      if (!isLinked) this.#noteLinked(absolute);
      return this.hold(fd);
    }
    // Only a way through a magic link (/proc/self/exe, /dev/fd/3, /proc/self/cwd/…) means another
    // file to us than to the caller. The kernel says so with ELOOP, or with ENOENT where we have no
    // such descriptor; before openat2 was there, it says nothing.
    const walks = fd === -Errno.ELOOP || fd === -Errno.ENOENT || fd === -Errno.ENOSYS;
    return walks ? this.#walk(absolute, view) : fd;
  }

  #open(path: string, resolve: number): number {
    return this.#files.openResolving(path, O_PATH, resolve, AT_FDCWD);
  }

  #noteLinked(path: string): void {
    if (this.#linked.size >= LINKED_MAX) this.#linked.clear();
    this.#linked.add(path);
  }

  /**
   * The absolute name that a caller used for a file, for rules that go by names. Folding `..` as
   * text would let `/link/../usr/bin/true` pass for /usr/bin/true, so a path that has one is named
   * by the directory it really leads to. Null if there is no such directory.
   */
  nameOf(path: string, view: PathView, base: string, file: ProgramFile | null): string | null {
    const whole = path.startsWith("/") ? path : `${base}/${path}`;
    const hasDots = DOT_DOT.test(whole);
    const name = hasDots ? this.#nameInDirectory(whole, view, base) : foldPath(whole);
    if (name === null || file === null || name === file.realPath) return name;
    if (!hasDots && path.startsWith("/")) return name;
    // Directory and file were looked up one after the other. If something was moved in between,
    // the name is that of another file.
    const named = this.find(name, view, "/");
    if (typeof named === "number") return file.realPath;
    this.release(named);
    return named.stat.id === file.stat.id ? name : file.realPath;
  }

  #nameInDirectory(whole: string, view: PathView, base: string): string | null {
    const slash = whole.lastIndexOf("/");
    const directory = this.find(whole.slice(0, slash + 1), view, base);
    if (typeof directory === "number") return null;
    this.release(directory);
    const last = whole.slice(slash + 1);
    return foldPath(`${directory.realPath}/${last === ".." ? "" : last}`);
  }

  /**
   * The places that decide which file an absolute name stands for: each link on its way, and the
   * entry it ends at. Null if a magic link is among them, which leads wherever the caller likes.
   */
  placesOf(path: string, view: PathView): readonly string[] | null {
    const links: string[] = [];
    const file = this.#walk(path, view, links);
    if (typeof file !== "number") this.release(file);
    const slash = path.lastIndexOf("/");
    const directory = this.#walk(path.slice(0, slash), view);
    if (typeof directory === "number") return null;
    this.release(directory);
    if (typeof file === "number" || links.some(isMagic)) return null;
    return [...links, `${directory.realPath}/${path.slice(slash + 1)}`];
  }

  /** No link was followed on the way here, so the text of the path is its real name. */
  #holdPlain(fd: number, path: string): ProgramFile | number {
    // A directory that is moved while we are in it makes `..` lead elsewhere than the text says.
    if (DOT_DOT.test(path)) return this.hold(fd);
    const stat = this.#files.stat(fd, "", AT_EMPTY_PATH);
    if (stat === null || stat.links === 0) return this.hold(fd);
    return { fd, stat, realPath: foldPath(path), kind: "file" };
  }

  /** Takes over an O_PATH descriptor. */
  hold(fd: number): ProgramFile | number {
    const stat = this.#files.stat(fd, "", AT_EMPTY_PATH);
    const link = this.#files.readlink(`/proc/self/fd/${fd}`);
    if (stat === null || link === null) {
      this.#files.close(fd);
      return -Errno.EACCES;
    }
    return { fd, stat, ...nameOfLink(link, stat) };
  }

  release(file: ProgramFile): void {
    if (file.fd !== NOT_HELD) this.#files.close(file.fd);
  }

  /** Component by component, with /proc/self read as the caller's; notes the `links` it follows. */
  #walk(path: string, view: PathView, links: string[] = []): ProgramFile | number {
    let done = "";
    let rest = path.split("/").filter((part) => part !== "" && part !== ".");
    while (rest.length > 0) {
      const [part, ...after] = rest as [string, ...string[]];
      rest = after;
      if (part === "..") {
        done = done.slice(0, Math.max(done.lastIndexOf("/"), 0));
        continue;
      }
      const here = `${done}/${this.#seenBy(done, part, view)}`;
      const target = this.#files.readlink(here);
      if (target === null) {
        done = here;
        continue;
      }
      if (links.push(here) > LINKS_MAX) return -Errno.ELOOP;
      if (isMagic(here)) {
        const followed = this.#follow(here, rest.length === 0);
        if (typeof followed !== "string") return followed;
        done = followed;
        continue;
      }
      rest = [...target.split("/").filter((each) => each !== "" && each !== "."), ...rest];
      if (target.startsWith("/")) done = "";
    }
    const fd = this.#files.open(done === "" ? "/" : done, O_PATH);
    return fd < 0 ? fd : this.hold(fd);
  }

  #seenBy(parent: string, part: string, view: PathView): string {
    if (parent !== "/proc") return part;
    if (part === "self") return String(view.tgid);
    if (part === "thread-self") return `${view.tgid}/task/${view.tid}`;
    return part;
  }

  /** A magic link leads to a file, not to a name: at the end it is that file that counts. */
  #follow(link: string, isLast: boolean): string | ProgramFile | number {
    const fd = this.#files.open(link, O_PATH);
    if (fd < 0) return fd;
    const file = this.hold(fd);
    if (isLast || typeof file === "number") return file;
    this.release(file);
    return file.realPath === "/" ? "" : file.realPath;
  }
}

/** Folds `.`, `..` and doubled slashes as text: right for a path that goes through no link. */
function foldPath(path: string): string {
  if (!path.includes("//") && !path.includes("/.") && !path.endsWith("/")) return path;
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return `/${parts.join("/")}`;
}

const MAGIC = /^\/proc\/\d+(?:\/task\/\d+)?\/(?:exe|cwd|root|fd\/\d+|map_files\/[^/]+)$/;

function isMagic(path: string): boolean {
  return MAGIC.test(path);
}
