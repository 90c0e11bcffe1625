import { Errno } from "../../ffi/abi/errno.ts";
import {
  AT_FDCWD,
  AT_SYMLINK_NOFOLLOW,
  O_CLOEXEC,
  S_IFIFO,
  S_IFMT,
  S_IFREG,
} from "../../ffi/abi/file.ts";
import { FILE_CALLS, type FileCallShape } from "../../ffi/abi/file-calls.ts";
import { fsRightBit } from "../../ffi/abi/landlock.ts";
import { EntryCalls } from "../../ffi/calls/entry-calls.ts";
import { ARCH } from "../../ffi/calls/libc.ts";
import { above } from "../plan/hole-map.ts";
import type { SurroundingsMap } from "../plan/hole-surroundings.ts";
import type { LandlockGrant } from "../plan/launch-plan.ts";
import { CallerCredentials } from "./caller-credentials.ts";
import { type HeldName, NameReader, type NameReaderParts, type WrittenName } from "./held-name.ts";
import { NeighbourOpener } from "./neighbour-opener.ts";

const AT_REMOVEDIR = 0x200;
const OWN_DESCRIPTOR = /^\/proc\/(?:self|thread-self|\d+)\/(?:task\/\d+\/)?fd\/\d+$/;
const RENAME_FLAGS = 0b11;
const MODE_BITS = 0o7777;
const RENAME_EXCHANGE = 0b10;
const USED = fsRightBit("write_file") | fsRightBit("read_file");
const WRITE_FILE = fsRightBit("write_file");

export interface HoleNeighboursParts extends NameReaderParts {
  readonly surroundings: SurroundingsMap;
  /** What the seal grants by itself. */
  readonly granted: readonly LandlockGrant[];
  /** Whether a handler after this one looks at what is left to the kernel. */
  readonly isFollowed: boolean;
}

/** `native`: the call goes on, and the kernel judges it by its own rules. */
export type NeighbourAnswer = number | "native" | { readonly fd: number; readonly flags: number };

/**
 * Opens, makes, moves and removes what is beside the holes of a grant, for the agent. Nothing is
 * taken away here: a call that is not answered goes on under Landlock, which denies what it has no
 * rule for, so that it does not matter what its caller does to its memory meanwhile.
 */
export class HoleNeighbours {
  readonly #parts: HoleNeighboursParts;
  readonly #names: NameReader;
  readonly #entries = new EntryCalls();
  readonly #opener: NeighbourOpener;
  readonly #credentials: CallerCredentials;
  readonly #byNumber = new Map<number, FileCallShape>();
  /** What the seal grants, by path: the id it had when the seal was made. */
  readonly #granted = new Map<string, string>();

  constructor(parts: HoleNeighboursParts) {
    this.#parts = parts;
    this.#names = new NameReader(parts);
    this.#opener = new NeighbourOpener(parts, this.#names);
    this.#credentials = new CallerCredentials(parts.files);
    for (const shape of Object.values<FileCallShape>(FILE_CALLS)) {
      const number = shape.numbers[ARCH];
      if (number !== null) this.#byNumber.set(number, shape);
    }
    for (const { path, access } of parts.granted) {
      const needed = parts.surroundings.rightsAt(path) & USED;
      // What the kernel would let be read and not written, say, is not left to it here.
      if (this.#isNear(path) && (access & needed) !== needed) continue;
      const stat = parts.files.stat(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW);
      if (stat !== null) this.#granted.set(path, stat.id);
    }
  }

  /** Handles the notification that the listener holds, if it is one of a file call. */
  handle(): boolean {
    const { listener, files, isFollowed } = this.#parts;
    const shape = this.#byNumber.get(listener.callNumber);
    if (shape === undefined) return false;
    const { id } = listener;
    const answer = this.#answer(shape);
    if (answer === "native") {
      if (!isFollowed) listener.proceed(id);
      return !isFollowed;
    }
    if (typeof answer === "number") listener.refuse(id, -answer);
    else {
      const fd = listener.returnDescriptor(id, answer.fd, answer.flags & O_CLOEXEC);
      files.close(answer.fd);
      if (fd < 0) listener.refuse(id, -fd);
    }
    return true;
  }

  #answer(shape: FileCallShape): NeighbourAnswer {
    const first = this.#names.written(shape);
    if (first === null) return "native";
    const second = shape.second === undefined ? null : this.#names.written(shape.second);
    if (shape.second !== undefined && second === null) return "native";
    const isOpen = shape.kind === "open" || shape.kind === "creat" || shape.kind === "openat2";
    const isNative = (name: WrittenName): boolean =>
      this.#isGranted(name.path, { itself: isOpen || shape.kind === "truncate" });
    if (isNative(first) && (second === null || isNative(second))) return "native";
    // Who gave up its user or its powers must not get ours.
    if (!this.#credentials.areOurs(this.#parts.listener.tid)) return "native";
    if (isOpen) return this.#opener.open(shape, first);
    if (shape.kind === "truncate") return this.#opener.truncate(first);
    return second === null ? this.#change(shape, first) : this.#move(shape, first, second);
  }

  /**
   * Whether the seal itself grants what the path says. (Where links lead is left to the kernel,
   * which may then deny what is beside a hole.) Who may change a directory changes its entries.
   */
  #isGranted(path: string, { itself }: { readonly itself: boolean }): boolean {
    // Like every link, but a shell and its scripts name their own files so.
    if (itself && OWN_DESCRIPTOR.test(path)) return false;
    if (path.includes("/../") || path.endsWith("/..") || path.includes("/./")) return false;
    let at = itself ? path : above(path);
    for (; at !== "/"; at = above(at)) {
      const id = this.#granted.get(at);
      if (id === undefined) continue;
      // Something else may have been put in its place, beside a hole.
      if (!this.#isNear(at)) return true;
      return this.#parts.files.stat(AT_FDCWD, at, AT_SYMLINK_NOFOLLOW)?.id === id;
    }
    return false;
  }

  #isNear(path: string): boolean {
    return this.#parts.surroundings.rootOf(path) !== null;
  }

  #change(shape: FileCallShape, written: WrittenName): NeighbourAnswer {
    const held = this.#names.hold(written);
    if (held === null) return "native";
    const answer = this.#isOurs(held) ? this.#changeHeld(shape, held) : "native";
    this.#names.release(held);
    return answer;
  }

  #changeHeld(shape: FileCallShape, held: HeldName): NeighbourAnswer {
    const { listener, memory, surroundings } = this.#parts;
    const isWay = surroundings.leadsToHole(held.path);
    const mode = listener.intArgument(shape.path + 1) & ~this.#opener.umask();
    if (!listener.alive(listener.id)) return -Errno.EINTR;
    // A directory may come to lead to a hole; nothing else may, and none that does may go.
    if (shape.kind === "mkdir") return this.#entries.makeDirectory(held, mode & MODE_BITS);
    if (isWay) return "native";
    switch (shape.kind) {
      case "unlink":
        return this.#entries.remove(held, 0);
      case "rmdir":
        return this.#entries.remove(held, AT_REMOVEDIR);
      case "unlinkat":
        return this.#entries.remove(held, listener.intArgument(shape.flags ?? 2));
      case "mknod": {
        const type = mode & S_IFMT;
        const isPlain = type === 0 || type === S_IFREG || type === S_IFIFO;
        return isPlain ? this.#entries.makeNode(held, mode) : "native";
      }
      case "symlink": {
        const target = memory.path(listener.tid, listener.argument(0));
        if (typeof target === "number") return target;
        return target === "" ? -Errno.ENOENT : this.#entries.makeLink(held, target);
      }
      default:
        return "native";
    }
  }

  #move(shape: FileCallShape, first: WrittenName, second: WrittenName): NeighbourAnswer {
    const from = this.#names.hold(first);
    if (from === null) return "native";
    const to = this.#names.hold(second);
    const answer = to === null ? "native" : this.#moveHeld(shape, from, to);
    this.#names.release(from);
    if (to !== null) this.#names.release(to);
    return answer;
  }

  #moveHeld(shape: FileCallShape, from: HeldName, to: HeldName): NeighbourAnswer {
    const { listener, surroundings } = this.#parts;
    if (surroundings.leadsToHole(from.path) || surroundings.leadsToHole(to.path)) return "native";
    const [isFrom, isTo] = [this.#isOurs(from), this.#isOurs(to)];
    // The kernel would deny it as a whole. So told, programs copy and remove instead.
    if (isFrom !== isTo) return this.#isWritten(isFrom ? to : from) ? -Errno.EXDEV : "native";
    if (!isFrom) return "native";
    const flags = shape.second?.dir === 2 ? this.#moveFlags() : 0;
    if ((flags & ~(shape.kind === "link" ? 0 : RENAME_FLAGS)) !== 0) return "native";
    const swaps = shape.kind === "rename" && (flags & RENAME_EXCHANGE) !== 0;
    if (this.#gains(from, to) || (swaps && this.#gains(to, from))) return -Errno.EXDEV;
    if (!listener.alive(listener.id)) return -Errno.EINTR;
    if (shape.kind === "link") return this.#entries.link(from, to);
    return this.#entries.rename(from, to, flags);
  }

  /** Of linkat and renameat2; renameat has none. */
  #moveFlags(): number {
    const { listener } = this.#parts;
    const hasNone = listener.callNumber === FILE_CALLS.renameat.numbers[ARCH];
    return hasNone ? 0 : listener.intArgument(4);
  }

  /** Whether the policy gives more for the second name: the kernel answers EXDEV to that, too. */
  #gains(from: HeldName, to: HeldName): boolean {
    const { surroundings } = this.#parts;
    return (surroundings.rightsAt(to.path) & ~surroundings.rightsAt(from.path)) !== 0;
  }

  /** Whether the seal itself lets entries of this name be changed. */
  #isWritten({ path }: HeldName): boolean {
    const isWritten = (this.#parts.surroundings.rightsAt(path) & WRITE_FILE) !== 0;
    return isWritten && this.#isGranted(path, { itself: false });
  }

  /** Whether entries of this name may be changed here. */
  #isOurs({ path, parent }: HeldName): boolean {
    const { surroundings } = this.#parts;
    const root = surroundings.rootOf(path);
    // The grant itself stands in a directory that is not granted.
    return root !== null && root !== path && !surroundings.isClosed(parent);
  }
}
