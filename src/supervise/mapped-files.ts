import { Errno } from "../../ffi/abi/errno.ts";
import { AT_FDCWD } from "../../ffi/abi/file.ts";
import type { FileCalls } from "../../ffi/calls/file.ts";
import { KernelBuffer } from "../../ffi/calls/libc.ts";
import type { PathView, ProgramFile, ProgramFinder } from "./program-file.ts";

const MAPS_BYTES = 16 * 1024;
const LOOKS_MAX = 4;

/** A file that a process has mapped: its name now, and which file it is whatever its name. */
export interface MappedFile {
  readonly path: string;
  /** As `FileStat.id`. */
  readonly id: string;
}

/** start-end perms offset major:minor inode path */
const LINE = /^\S+ \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+) +(\/.*)$/;

/** What /proc/pid/maps says of files. */
export class MappedFiles {
  readonly #files: FileCalls;
  readonly #maps = new KernelBuffer(MAPS_BYTES);

  constructor(files: FileCalls) {
    this.#files = files;
  }

  /** The files besides the program itself, in the order of addresses; null if it cannot be told. */
  of(pid: number): MappedFile[] | null {
    for (let look = 0; look < LOOKS_MAX; look++) {
      const exePath = this.#files.readlink(`/proc/${pid}/exe`);
      const exe = this.#files.stat(AT_FDCWD, `/proc/${pid}/exe`, 0);
      const length = this.#files.slurpRecords(`/proc/${pid}/maps`, this.#maps);
      if (exePath === null || exe === null || length <= 0 || length >= MAPS_BYTES) return null;
      const found = this.#parse(length);
      // Names can be exchanged at any time. A file's number stays with it.
      const others = found.filter(({ id }) => id !== exe.id);
      if (others.length < found.length) return others;
      // Some file systems name another device there, and of those some another number as well.
      const same = found.filter(({ id }) => numberOf(id) === numberOf(exe.id));
      if (same.length === 1) return found.filter((each) => each !== same[0]);
      // What is left is the name.
      const isStill = this.#files.readlink(`/proc/${pid}/exe`) === exePath;
      if (isStill) return withoutNamed(found, exePath);
    }
    return null;
  }

  #parse(length: number): MappedFile[] {
    const found: MappedFile[] = [];
    for (const line of this.#maps.bytes.toString("latin1", 0, length).split("\n")) {
      const [, major = "", minor = "", inode = "", path] = LINE.exec(line) ?? [];
      if (path === undefined) continue;
      const id = `${parseInt(major, 16)}:${parseInt(minor, 16)}:${inode}`;
      if (!found.some((file) => file.path === path && file.id === id)) found.push({ path, id });
    }
    return found;
  }
}

function numberOf(id: string): string {
  return id.slice(id.lastIndexOf(":") + 1);
}

/**
 * Two files may be shown by one name: a newline looks like what stands for it, and a name that was
 * removed may be there anew. Which is the program cannot be told then, so neither is left out.
 */
function withoutNamed(found: MappedFile[], exePath: string): MappedFile[] {
  // The one character that maps cannot show as it is.
  const shownPath = exePath.replaceAll("\n", "\\012");
  const others = found.filter(({ path }) => path !== shownPath);
  return found.length - others.length > 1 ? found : others;
}

/**
 * Opens a mapped file by its name, and makes sure that it is the one that is mapped: names can be
 * exchanged at any time.
 */
export function holdMapped(
  finder: ProgramFinder,
  mapped: MappedFile,
  view: PathView,
): ProgramFile | number {
  const file = finder.find(mapped.path, view, "/");
  if (typeof file === "number" || file.stat.id === mapped.id) return file;
  finder.release(file);
  return -Errno.ENOENT;
}
