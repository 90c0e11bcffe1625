import type { Fd } from "../../ffi/abi/brand.ts";
import { Errno } from "../../ffi/abi/errno.ts";
import {
  AT_SYMLINK_NOFOLLOW,
  F_SETFL,
  O_ACCMODE,
  O_CREAT,
  O_EXCL,
  O_NOCTTY,
  O_NOFOLLOW,
  O_NONBLOCK,
  O_PATH,
  O_TMPFILE_BIT,
  O_TRUNC,
  O_WRONLY,
  OpenHow,
  S_IFLNK,
  S_IFMT,
  S_IFREG,
} from "../../ffi/abi/file.ts";
import type { FileCallShape } from "../../ffi/abi/file-calls.ts";
import { fsRightBit } from "../../ffi/abi/landlock.ts";
import { EntryCalls } from "../../ffi/calls/entry-calls.ts";
import { ARCH, sys } from "../../ffi/calls/libc.ts";
import type { SurroundingsMap } from "../plan/hole-surroundings.ts";
import type { HeldName, NameReader, NameReaderParts, WrittenName } from "./held-name.ts";
import type { NeighbourAnswer } from "./hole-neighbours.ts";
import type { ProgramFile } from "./program-file.ts";

/** Somebody may make or remove the file at the very moment. */
const TRIES_MAX = 3;
const MODE_BITS = 0o7777;
const UMASK_USUAL = 0o077;
const FLAGS_MAX = 0x7fff_ffffn;
const READ_FILE = fsRightBit("read_file");

interface OpenWish {
  readonly flags: number;
  readonly mode: number;
}

/** Opens regular files beside holes, in the place of their caller. */
export class NeighbourOpener {
  readonly #parts: NameReaderParts & { readonly surroundings: SurroundingsMap };
  readonly #names: NameReader;
  readonly #entries = new EntryCalls();

  constructor(
    parts: NameReaderParts & { readonly surroundings: SurroundingsMap },
    names: NameReader,
  ) {
    this.#parts = parts;
    this.#names = names;
    // Each file is made with its caller's.
    sys("umask", 0);
  }

  open(shape: FileCallShape, written: WrittenName): NeighbourAnswer {
    const wish = this.#wish(shape);
    // Landlock has nothing against a descriptor that only names a file.
    if (wish === null || (wish.flags & (O_PATH | O_TMPFILE_BIT)) !== 0) return "native";
    for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
      const held = this.#names.hold(written);
      if (held === null) return "native";
      const answer = this.#openHeld(held, written, wish);
      this.#names.release(held);
      if (answer !== "changed") return answer;
    }
    return -Errno.EAGAIN;
  }

  truncate(written: WrittenName): NeighbourAnswer {
    const { listener, finder } = this.#parts;
    const lengthBytes = listener.argument(1);
    // Below zero, as the kernel reads it.
    if (lengthBytes > Number.MAX_SAFE_INTEGER) return "native";
    const file = finder.find(written.path, written.view, "/");
    if (typeof file === "number") return "native";
    const answer = !this.#isOurs(file)
      ? "native"
      : listener.alive(listener.id)
        ? this.#entries.truncate(file.fd, lengthBytes)
        : -Errno.EINTR;
    finder.release(file);
    return answer;
  }

  /** The caller's own, as far as it can be told. */
  umask(): number {
    return this.#parts.callers.umask(this.#parts.listener.tid) ?? UMASK_USUAL;
  }

  #wish(shape: FileCallShape): OpenWish | null {
    const { listener, memory } = this.#parts;
    if (shape.kind === "creat") {
      const mode = listener.intArgument(shape.path + 1);
      return { flags: O_WRONLY | O_CREAT | O_TRUNC, mode };
    }
    const flagsAt = shape.flags ?? 0;
    if (shape.kind === "open") {
      return { flags: listener.intArgument(flagsAt), mode: listener.intArgument(flagsAt + 1) };
    }
    const how = memory.data(listener.tid, listener.argument(flagsAt), OpenHow.size);
    // What it says about the way to the file, only the kernel can see to.
    if (how === null || how.readBigUInt64LE(OpenHow.at.resolve) !== 0n) return null;
    const flags = how.readBigUInt64LE(OpenHow.at.flags);
    const mode = how.readBigUInt64LE(OpenHow.at.mode);
    // Stricter than openat: it refuses what it does not know.
    const modeMax = (flags & BigInt(O_CREAT)) === 0n ? 0 : MODE_BITS;
    if (flags > FLAGS_MAX || mode > modeMax) return null;
    if (listener.argument(flagsAt + 1) !== OpenHow.size) return null;
    return { flags: Number(flags), mode: Number(mode) };
  }

  #openHeld(held: HeldName, written: WrittenName, wish: OpenWish): NeighbourAnswer | "changed" {
    const { files, finder } = this.#parts;
    const { flags } = wish;
    // The caller's own descriptors are not among ours.
    const isInProc = held.parent.startsWith("/proc/");
    const stat = files.stat(held.directory, held.name, AT_SYMLINK_NOFOLLOW);
    if (stat === null) {
      if (!isInProc && ((flags & O_CREAT) === 0 || held.name.endsWith("/"))) return "native";
      if (!isInProc) return this.#create(held, wish);
    }
    const isLink = stat === null || (stat.mode & S_IFMT) === S_IFLNK;
    const follows = isLink && (flags & (O_NOFOLLOW[ARCH] | O_EXCL)) === 0;
    const file = follows ? finder.find(written.path, written.view, "/") : this.#hold(held);
    if (typeof file === "number") return "native";
    const answer = this.#openFile(file, flags);
    finder.release(file);
    return answer;
  }

  #hold({ directory, name }: HeldName): ProgramFile | number {
    const { files, finder } = this.#parts;
    const fd = files.open(name, O_PATH | O_NOFOLLOW[ARCH], directory as Fd);
    return fd < 0 ? fd : finder.hold(fd);
  }

  #openFile(file: ProgramFile, flags: number): NeighbourAnswer {
    const { listener, files } = this.#parts;
    if (!this.#isOurs(file) || !this.#isGranted(file.realPath, flags)) return "native";
    if ((flags & O_CREAT) !== 0 && (flags & O_EXCL) !== 0) return -Errno.EEXIST;
    if (!listener.alive(listener.id)) return -Errno.EINTR;
    const kept = flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW[ARCH]);
    // A lease that the agent took on its own file must not hold us up.
    const fd = files.open(`/proc/self/fd/${file.fd}`, kept | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return fd;
    if ((flags & O_NONBLOCK) === 0) sys("fcntl", fd, F_SETFL, kept);
    return { fd, flags };
  }

  #create(held: HeldName, { flags, mode }: OpenWish): NeighbourAnswer | "changed" {
    const { listener, files, surroundings } = this.#parts;
    if (surroundings.rootOf(held.path) === null) return "native";
    if (surroundings.isClosed(held.parent) || surroundings.leadsToHole(held.path)) return "native";
    if (!this.#isGranted(held.path, flags)) return "native";
    if (!listener.alive(listener.id)) return -Errno.EINTR;
    const fd = files.open(
      held.name,
      flags | O_CREAT | O_EXCL | O_NOCTTY,
      held.directory as Fd,
      mode & MODE_BITS & ~this.umask(),
    );
    if (fd === -Errno.EEXIST && (flags & O_EXCL) === 0) return "changed";
    return fd < 0 ? fd : { fd, flags };
  }

  /** What is beside a hole may be written, but not always read. */
  #isGranted(path: string, flags: number): boolean {
    if ((flags & O_ACCMODE) === O_WRONLY) return true;
    return (this.#parts.surroundings.rightsAt(path) & READ_FILE) !== 0;
  }

  /** Directories are listed by the kernel's leave; what else there is, it judges itself. */
  #isOurs({ realPath, kind, stat }: ProgramFile): boolean {
    if (kind !== "file" || (stat.mode & S_IFMT) !== S_IFREG) return false;
    return this.#parts.surroundings.rootOf(realPath) !== null;
  }
}
