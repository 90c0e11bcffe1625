import type { Fd } from "../../ffi/abi/brand.ts";
import { Errno } from "../../ffi/abi/errno.ts";
import {
  AT_EMPTY_PATH,
  AT_FDCWD,
  AT_SYMLINK_NOFOLLOW,
  O_NOFOLLOW,
  O_PATH,
  S_IFLNK,
  S_IFMT,
} from "../../ffi/abi/file.ts";
import {
  METADATA_CALLS,
  type MetadataCall,
  type MetadataChange,
  type MetadataTarget,
} from "../../ffi/abi/metadata-calls.ts";
import type { FileCalls } from "../../ffi/calls/file.ts";
import { ARCH, KernelBuffer } from "../../ffi/calls/libc.ts";
import { MetadataCalls } from "../../ffi/calls/metadata.ts";
import type { Listener } from "../../ffi/calls/notify.ts";
import type { SurroundingsMap } from "../plan/hole-surroundings.ts";
import { isBeneath } from "../plan/path-facts.ts";
import type { ArgumentMemory } from "./argument-memory.ts";
import type { CallerReader } from "./caller.ts";
import { CallerCredentials } from "./caller-credentials.ts";
import type { ProgramFile, ProgramFinder } from "./program-file.ts";

/** What anybody may set on a file of their own. The rest takes powers that the agent lacks. */
const ATTRIBUTE = /^(?:user\.|system\.posix_acl_(?:access|default)$)/;
const ATTRIBUTE_BYTES_MAX = 255;
const TIMES_BYTES = 32;
/** `mesg`, and what else keeps others from writing to a terminal, changes its mode. */
const TERMINAL = /^\/dev\/pts\/\d+$/;
const FD_INFO_BYTES = 1024;
const PLACELESS = /^(?:pipe|socket):\[\d+\]/;

export interface MetadataGuardParts {
  readonly listener: Listener;
  readonly files: FileCalls;
  readonly memory: ArgumentMemory;
  readonly callers: CallerReader;
  readonly finder: ProgramFinder;
  /** One character a byte. */
  readonly writableTrees: readonly string[];
  /** Grants with holes in them, where there are any. */
  readonly surroundings: SurroundingsMap | null;
}

/**
 * Modes, owners, times and attributes, which Landlock leaves open. The supervisor looks the file
 * up, judges it by where it really lies, and makes the change itself on the file that it holds; the
 * caller's own call never goes on, so there is nothing to be swapped in between.
 */
export class MetadataGuard {
  readonly #parts: MetadataGuardParts;
  readonly #calls = new MetadataCalls();
  readonly #credentials: CallerCredentials;
  readonly #times = new KernelBuffer(TIMES_BYTES);
  readonly #fdInfo = new KernelBuffer(FD_INFO_BYTES);
  readonly #byNumber = new Map<number, MetadataCall>();

  constructor(parts: MetadataGuardParts) {
    this.#parts = parts;
    this.#credentials = new CallerCredentials(parts.files);
    for (const call of Object.values(METADATA_CALLS)) {
      const number = call.numbers[ARCH];
      if (number !== null) this.#byNumber.set(number, call);
    }
  }

  /** Handles the notification that the listener holds, if it is one of these calls. */
  handle(): boolean {
    const { listener, finder } = this.#parts;
    const call = this.#byNumber.get(listener.callNumber);
    if (call === undefined) return false;
    const { id, tid } = listener;
    const file = this.#find(call.target, tid);
    if (typeof file === "number") {
      listener.refuse(id, -file);
      return true;
    }
    const result = this.#credentials.areOurs(tid)
      ? this.#change(call, file, id, tid)
      : -Errno.EPERM;
    finder.release(file);
    listener.refuse(id, -result);
    return true;
  }

  #find(target: MetadataTarget, tid: number): ProgramFile | number {
    const { listener } = this.#parts;
    switch (target.kind) {
      case "fd":
        return this.#descriptor(tid, listener.intArgument(target.fd));
      case "path":
        return this.#named(tid, AT_FDCWD, target.path, target.follows);
      case "at": {
        const dir = listener.intArgument(target.dir);
        const flags = target.flags === undefined ? 0 : listener.intArgument(target.flags);
        if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) !== 0) return -Errno.EINVAL;
        // utimensat and futimesat take no path at all for the descriptor itself.
        const isTimes = listener.argument(target.path) === 0 && dir !== AT_FDCWD;
        if (isTimes) return this.#descriptor(tid, dir);
        const follows = (flags & AT_SYMLINK_NOFOLLOW) === 0;
        return this.#named(tid, dir, target.path, follows, (flags & AT_EMPTY_PATH) !== 0);
      }
      default:
        return target satisfies never;
    }
  }

  #descriptor(tid: number, fd: number): ProgramFile | number {
    const { files, finder } = this.#parts;
    if (fd < 0) return -Errno.EBADF;
    const held = files.open(`/proc/${tid}/fd/${fd}`, O_PATH);
    return held < 0 ? -Errno.EBADF : finder.hold(held);
  }

  #named(
    tid: number,
    dir: number,
    argument: number,
    follows: boolean,
    mayBeEmpty = false,
  ): ProgramFile | number {
    const { listener, memory, callers, files, finder } = this.#parts;
    const path = memory.path(tid, listener.argument(argument));
    if (typeof path === "number") return path;
    if (path === "" && !mayBeEmpty) return -Errno.ENOENT;
    if (path === "" && dir !== AT_FDCWD) return this.#descriptor(tid, dir);
    const isRelative = !path.startsWith("/") && dir !== AT_FDCWD;
    const base = isRelative ? files.readlink(`/proc/${tid}/fd/${dir}`) : callers.cwd(tid);
    const status = callers.status(tid);
    if (base === null) return isRelative ? -Errno.EBADF : -Errno.EACCES;
    if (status === null) return -Errno.EACCES;
    const view = { tid, tgid: status.tgid };
    const whole = path.startsWith("/") ? path : `${base}/${path}`;
    if (follows || whole.endsWith("/")) return finder.find(whole, view, base);
    const slash = whole.lastIndexOf("/");
    const parent = finder.find(slash === 0 ? "/" : whole.slice(0, slash), view, base);
    if (typeof parent === "number") return parent;
    const held = files.open(whole.slice(slash + 1), O_PATH | O_NOFOLLOW[ARCH], parent.fd as Fd);
    finder.release(parent);
    return held < 0 ? held : finder.hold(held);
  }

  #change(call: MetadataCall, file: ProgramFile, id: bigint, tid: number): number {
    const { change } = call;
    if (!this.#isWritable(file) && !this.#isOpenTerminal(call, file, tid)) return -Errno.EACCES;
    const isLink = (file.stat.mode & S_IFMT) === S_IFLNK;
    const { listener } = this.#parts;
    switch (change.kind) {
      case "mode":
        if (isLink) return -Errno.EOPNOTSUPP;
        if (!listener.alive(id)) return -Errno.EINTR;
        return this.#calls.chmod(file.fd, listener.intArgument(change.mode) & 0o7777);
      case "owner":
        if (!listener.alive(id)) return -Errno.EINTR;
        return this.#calls.chown(
          file.fd,
          listener.intArgument(change.uid),
          listener.intArgument(change.gid),
        );
      case "times":
        return this.#setTimes(change, file, id, tid);
      default:
        // On a link only root's own attributes could be set, and those are not for the agent.
        return isLink ? -Errno.EPERM : this.#changeAttribute(change, file, id, tid);
    }
  }

  /** What has no place on a disk (a pipe, a memfd) is the agent's own. */
  #isWritable({ realPath, kind }: ProgramFile): boolean {
    if (kind === "memfd" || PLACELESS.test(realPath)) return true;
    const { writableTrees, surroundings } = this.#parts;
    if (writableTrees.some((tree) => isBeneath(realPath, tree))) return true;
    return surroundings !== null && surroundings.rootOf(realPath) !== null;
  }

  /** The caller has it open, so the seal let it be opened, or it was handed over at the start. */
  #isOpenTerminal(
    { target, change }: MetadataCall,
    { realPath }: ProgramFile,
    tid: number,
  ): boolean {
    if (target.kind !== "fd" || change.kind !== "mode" || !TERMINAL.test(realPath)) return false;
    const { files, listener } = this.#parts;
    const path = `/proc/${tid}/fdinfo/${listener.intArgument(target.fd)}`;
    const length = files.slurp(path, this.#fdInfo);
    const text = this.#fdInfo.bytes.toString("latin1", 0, Math.max(length, 0));
    const flags = /^flags:\t([0-7]+)$/m.exec(text)?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_PATH) === 0;
  }

  #setTimes(
    change: Extract<MetadataChange, { kind: "times" }>,
    file: ProgramFile,
    id: bigint,
    tid: number,
  ): number {
    const { listener, memory } = this.#parts;
    const address = listener.argument(change.times);
    if (address === 0)
      return listener.alive(id) ? this.#calls.setTimes(file.fd, null) : -Errno.EINTR;
    const data = memory.data(tid, address, change.format === "seconds" ? 16 : TIMES_BYTES);
    if (data === null) return -Errno.EFAULT;
    if (!listener.alive(id)) return -Errno.EINTR;
    for (const index of [0, 1]) {
      const [seconds, nanoseconds] = timeAt(data, index, change.format);
      if (nanoseconds === null) return -Errno.EINVAL;
      this.#times.view.setBigInt64(index * 16, seconds, true);
      this.#times.view.setBigInt64(index * 16 + 8, nanoseconds, true);
    }
    return this.#calls.setTimes(file.fd, this.#times);
  }

  #changeAttribute(
    change: Extract<MetadataChange, { kind: "set-attribute" | "remove-attribute" }>,
    file: ProgramFile,
    id: bigint,
    tid: number,
  ): number {
    const { listener, memory } = this.#parts;
    const name = memory.path(tid, listener.argument(change.name));
    if (typeof name === "number") return name;
    if (name.length > ATTRIBUTE_BYTES_MAX) return -Errno.ERANGE;
    if (!ATTRIBUTE.test(name)) return -Errno.EPERM;
    if (change.kind === "remove-attribute") {
      return listener.alive(id) ? this.#calls.removeAttribute(file.fd, name) : -Errno.EINTR;
    }
    const size = listener.argument(change.size);
    if (size > 65_536) return -Errno.E2BIG;
    const value =
      size === 0 ? Buffer.alloc(0) : memory.data(tid, listener.argument(change.value), size);
    if (value === null) return -Errno.EFAULT;
    if (!listener.alive(id)) return -Errno.EINTR;
    return this.#calls.setAttribute(file.fd, name, value, listener.intArgument(change.flags));
  }
}

/** Seconds and nanoseconds; null where microseconds are out of their range. */
function timeAt(
  data: Buffer,
  index: number,
  format: "timespec" | "timeval" | "seconds",
): readonly [bigint, bigint | null] {
  if (format === "seconds") return [data.readBigInt64LE(index * 8), 0n];
  const seconds = data.readBigInt64LE(index * 16);
  const rest = data.readBigInt64LE(index * 16 + 8);
  if (format === "timespec") return [seconds, rest];
  return [seconds, rest < 0n || rest >= 1_000_000n ? null : rest * 1000n];
}
