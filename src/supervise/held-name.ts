import type { Fd } from "../../ffi/abi/brand.ts";
import { AT_FDCWD } from "../../ffi/abi/file.ts";
import type { FileCallShape } from "../../ffi/abi/file-calls.ts";
import type { FileCalls } from "../../ffi/calls/file.ts";
import type { Listener } from "../../ffi/calls/notify.ts";
import { joinPath } from "../plan/path-facts.ts";
import type { ArgumentMemory } from "./argument-memory.ts";
import type { CallerReader } from "./caller.ts";
import type { PathView, ProgramFinder } from "./program-file.ts";

/** A path as its caller wrote it, made absolute; what it leads to is not known yet. */
export interface WrittenName {
  /** One character a byte. */
  readonly path: string;
  readonly view: PathView;
}

/** The last part of a path in its directory, which is held: both as the disk has them. */
export interface HeldName {
  readonly directory: Fd | number;
  /** With one slash at its end where it was written with any: then it means a directory. */
  readonly name: string;
  readonly parent: string;
  readonly path: string;
}

export interface NameReaderParts {
  readonly listener: Listener;
  readonly files: FileCalls;
  readonly memory: ArgumentMemory;
  readonly callers: CallerReader;
  readonly finder: ProgramFinder;
}

/** Where in a call a path and its directory are. */
type Place = Pick<FileCallShape, "dir" | "path">;

/** Reads the names among the arguments of the call that the listener holds. */
export class NameReader {
  readonly #parts: NameReaderParts;

  constructor(parts: NameReaderParts) {
    this.#parts = parts;
  }

  /** Null where the kernel has something to say about it. */
  written({ dir, path: argument }: Place): WrittenName | null {
    const { listener, memory, callers, files } = this.#parts;
    const { tid } = listener;
    const path = memory.path(tid, listener.argument(argument));
    if (typeof path === "number" || path === "") return null;
    const status = callers.status(tid);
    if (status === null) return null;
    const view = { tid, tgid: status.tgid };
    if (path.startsWith("/")) return { path, view };
    const fd = dir === null ? AT_FDCWD : listener.intArgument(dir);
    const base = fd === AT_FDCWD ? callers.cwd(tid) : files.readlink(`/proc/${tid}/fd/${fd}`);
    return base === null ? null : { path: joinPath(base, path), view };
  }

  /** To be released. Null if the directory cannot be reached, or the name is none. */
  hold({ path, view }: WrittenName): HeldName | null {
    const trimmed = path.replace(/\/+$/, "");
    const slash = trimmed.lastIndexOf("/");
    const name = trimmed.slice(slash + 1);
    if (slash < 0 || name === "" || name === "." || name === "..") return null;
    const found = this.#parts.finder.find(slash === 0 ? "/" : trimmed.slice(0, slash), view, "/");
    if (typeof found === "number") return null;
    const { realPath: parent } = found;
    if (found.kind === "file" && parent.startsWith("/")) {
      const asWritten = trimmed === path ? name : `${name}/`;
      const held = { directory: found.fd as Fd, name: asWritten, parent };
      return { ...held, path: joinPath(parent, name) };
    }
    this.#parts.finder.release(found);
    return null;
  }

  release({ directory }: HeldName): void {
    this.#parts.files.close(directory);
  }
}
