import { AT_FDCWD, AT_SYMLINK_NOFOLLOW, S_IFDIR, S_IFMT } from "../../ffi/abi/file.ts";
import { FILE_CALLS, type FileCallName, type FileCallShape } from "../../ffi/abi/file-calls.ts";
import type { FsRight } from "../../ffi/abi/landlock.ts";
import type { FileCalls } from "../../ffi/calls/file.ts";
import { ARCH } from "../../ffi/calls/libc.ts";
import type { Listener } from "../../ffi/calls/notify.ts";
import { type FileNeed, SealReader } from "../plan/file-needs.ts";
import type { LandlockPlan } from "../plan/launch-plan.ts";
import type { ArgumentMemory } from "./argument-memory.ts";
import type { CallerReader, CallerStatus } from "./caller.ts";
import type { FileLog } from "./file-log.ts";
import type { ProgramFile, ProgramFinder } from "./program-file.ts";

const O_ACCMODE = 3;
const O_WRONLY = 1;
const O_RDWR = 2;
const O_CREAT = 0o100;
const O_TRUNC = 0o1000;
const O_PATH = 0o10000000;
const AT_REMOVEDIR = 0x200;

const NODE_RIGHTS: Readonly<Record<number, FsRight>> = {
  4802: "make_char",
  14406: "make_block",
  2401: "make_fifo",
  26411: "make_sock",
};

export interface FileExplainerParts {
  readonly listener: Listener;
  readonly files: FileCalls;
  readonly memory: ArgumentMemory;
  readonly callers: CallerReader;
  readonly finder: ProgramFinder;
  readonly log: FileLog;
  readonly seal: LandlockPlan;
}

/** A name in a directory: both as the disk has them. */
interface Entry {
  readonly parent: string;
  readonly isDirectory: boolean;
  readonly exists: boolean;
}

/**
 * Tells what Landlock is about to deny. It decides nothing: every call goes on, and the kernel
 * judges it by its own rules. So it does not matter here that a caller may change its memory.
 */
export class FileExplainer {
  readonly #parts: FileExplainerParts;
  readonly #seal: SealReader;
  readonly #byNumber = new Map<number, FileCallName>();

  constructor(parts: FileExplainerParts) {
    this.#parts = parts;
    this.#seal = new SealReader(parts.seal);
    for (const [name, { numbers }] of Object.entries(FILE_CALLS)) {
      const number = numbers[ARCH];
      if (number !== null) this.#byNumber.set(number, name as FileCallName);
    }
  }

  /** Handles the notification that the listener holds, if it is one of a file call. */
  handle(): boolean {
    const { listener, callers, log } = this.#parts;
    const name = this.#byNumber.get(listener.callNumber);
    if (name === undefined) return false;
    const { id, tid } = listener;
    const status = callers.status(tid);
    const needs = status === null ? [] : this.#needs(FILE_CALLS[name], tid, status);
    for (const need of needs) {
      const rights = this.#seal.missing(need);
      // A dead id means that a stranger's memory was read.
      if (rights.length === 0 || status === null || !listener.alive(id)) continue;
      log.denied({ ...need, rights }, name, status);
    }
    listener.proceed(id);
    return true;
  }

  #needs(shape: FileCallShape, tid: number, status: CallerStatus): readonly FileNeed[] {
    switch (shape.kind) {
      case "open":
        return this.#open(shape, tid, status, this.#flags(shape));
      case "openat2":
        return this.#open(shape, tid, status, this.#openHowFlags(shape));
      case "creat":
        return this.#open(shape, tid, status, O_WRONLY | O_CREAT | O_TRUNC);
      case "truncate":
        return this.#truncate(shape, tid, status);
      case "rename":
      case "link":
        return this.#pair(shape, tid, status);
      default:
        return this.#entry(shape, tid, status);
    }
  }

  #flags({ flags }: FileCallShape): number {
    return flags === undefined ? 0 : this.#parts.listener.intArgument(flags);
  }

  #openHowFlags({ flags }: FileCallShape): number {
    const { listener, memory } = this.#parts;
    return memory.data(listener.tid, listener.argument(flags ?? 0), 4)?.readInt32LE(0) ?? 0;
  }

  #open(shape: FileCallShape, tid: number, status: CallerStatus, flags: number): FileNeed[] {
    if ((flags & O_PATH) !== 0) return [];
    const mode = flags & O_ACCMODE;
    const writes: FsRight[] = mode === O_WRONLY || mode === O_RDWR ? ["write_file"] : [];
    const truncates: FsRight[] = (flags & O_TRUNC) !== 0 ? ["truncate"] : [];
    const reads = mode === 0 || mode === O_RDWR;
    const found = this.#find(shape, tid, status);
    if (found !== null) {
      const isDirectory = (found.stat.mode & S_IFMT) === S_IFDIR;
      const read: FsRight[] = reads ? [isDirectory ? "read_dir" : "read_file"] : [];
      if (found.kind !== "file" || !found.realPath.startsWith("/")) return [];
      const rights = [...read, ...writes, ...truncates];
      return [{ path: found.realPath, rights, isParent: false }];
    }
    if ((flags & O_CREAT) === 0) return [];
    const entry = this.#entryOf(shape.dir, shape.path, tid, status);
    if (entry === null) return [];
    const rights: FsRight[] = ["make_reg", ...(reads ? (["read_file"] as const) : []), ...writes];
    return [{ path: entry.parent, rights, isParent: true }];
  }

  #truncate(shape: FileCallShape, tid: number, status: CallerStatus): FileNeed[] {
    const found = this.#find(shape, tid, status);
    if (found === null || found.kind !== "file") return [];
    return [{ path: found.realPath, rights: ["truncate"], isParent: false }];
  }

  #entry(shape: FileCallShape, tid: number, status: CallerStatus): FileNeed[] {
    const entry = this.#entryOf(shape.dir, shape.path, tid, status);
    if (entry === null) return [];
    const removes = shape.kind === "unlink" || shape.kind === "rmdir" || shape.kind === "unlinkat";
    // The kernel says that it exists, or does not, before it asks Landlock.
    if (removes !== entry.exists) return [];
    return [{ path: entry.parent, rights: [this.#entryRight(shape)], isParent: true }];
  }

  #entryRight(shape: FileCallShape): FsRight {
    switch (shape.kind) {
      case "rmdir":
        return "remove_dir";
      case "unlinkat":
        return (this.#flags(shape) & AT_REMOVEDIR) === 0 ? "remove_file" : "remove_dir";
      case "mkdir":
        return "make_dir";
      case "symlink":
        return "make_sym";
      case "mknod":
        return NODE_RIGHTS[this.#flags(shape) & S_IFMT] ?? "make_reg";
      default:
        return "remove_file";
    }
  }

  #pair(shape: FileCallShape, tid: number, status: CallerStatus): FileNeed[] {
    const { second } = shape;
    const from = this.#entryOf(shape.dir, shape.path, tid, status);
    const to = second === undefined ? null : this.#entryOf(second.dir, second.path, tid, status);
    if (from === null || to === null || !from.exists) return [];
    const refer: FsRight[] = from.parent === to.parent ? [] : ["refer"];
    const make: FsRight = from.isDirectory ? "make_dir" : "make_reg";
    const leave: FsRight[] =
      shape.kind === "link" ? [] : [from.isDirectory ? "remove_dir" : "remove_file"];
    return [
      { path: from.parent, rights: [...leave, ...refer], isParent: true },
      { path: to.parent, rights: [make, ...refer], isParent: true },
    ];
  }

  #base(dir: number | null, tid: number): string | null {
    const { listener, callers, files } = this.#parts;
    const fd = dir === null ? AT_FDCWD : listener.intArgument(dir);
    return fd === AT_FDCWD ? callers.cwd(tid) : files.readlink(`/proc/${tid}/fd/${fd}`);
  }

  #path(argument: number, tid: number): string | null {
    const { listener, memory } = this.#parts;
    const path = memory.path(tid, listener.argument(argument));
    return typeof path === "number" ? null : path;
  }

  /** What the call would open, links followed. */
  #find(shape: FileCallShape, tid: number, { tgid }: CallerStatus): ProgramFile | null {
    const path = this.#path(shape.path, tid);
    const base = this.#base(shape.dir, tid);
    if (path === null || base === null || path === "") return null;
    const found = this.#parts.finder.find(path, { tid, tgid }, base);
    if (typeof found === "number") return null;
    this.#parts.finder.release(found);
    return found;
  }

  /** The entry that the call would make or remove, its last part not followed. */
  #entryOf(
    dir: number | null,
    argument: number,
    tid: number,
    { tgid }: CallerStatus,
  ): Entry | null {
    const { finder, files } = this.#parts;
    const given = this.#path(argument, tid)?.replace(/\/+$/, "") ?? "";
    const base = this.#base(dir, tid);
    if (given === "" || base === null) return null;
    const path = given.startsWith("/") ? given : `${base}/${given}`;
    const slash = path.lastIndexOf("/");
    const parent = finder.find(slash === 0 ? "/" : path.slice(0, slash), { tid, tgid }, base);
    if (typeof parent === "number") return null;
    const stat = files.stat(parent.fd, path.slice(slash + 1), AT_SYMLINK_NOFOLLOW);
    finder.release(parent);
    const isDirectory = ((stat?.mode ?? 0) & S_IFMT) === S_IFDIR;
    return { parent: parent.realPath, isDirectory, exists: stat !== null };
  }
}
