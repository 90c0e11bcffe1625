import type { Fd } from "../../ffi/abi/brand.ts";
import { Errno } from "../../ffi/abi/errno.ts";
import { O_CLOEXEC, O_NONBLOCK } from "../../ffi/abi/file.ts";
import { AF_UNIX, SOCK_SEQPACKET, SOCK_STREAM } from "../../ffi/abi/socket.ts";
import type { FileCalls } from "../../ffi/calls/file.ts";
import { KernelBuffer } from "../../ffi/calls/libc.ts";
import type { Listener } from "../../ffi/calls/notify.ts";
import type { SocketCalls } from "../../ffi/calls/socket-calls.ts";
import type { CallerReader } from "./caller.ts";
import { descendsFromUs } from "./peer-guard.ts";

export interface AbstractConnectParts {
  readonly listener: Listener;
  readonly files: FileCalls;
  readonly sockets: SocketCalls;
  readonly callers: CallerReader;
  /** Whether the agent's sockets listen through us, so that their owner seems to be us. */
  readonly listensForAgent: boolean;
}

const FD_INFO_BYTES_MAX = 1024;

/**
 * Connects to an abstract name that belongs to one of the agent's own processes. There is no file
 * to hold, and Landlock, which would keep the agent among its own, does not keep us. So a socket of
 * ours is connected first, its peer asked for its owner, and only then is it put in the place of
 * the caller's: nobody outside is ever handed to the agent.
 */
export class AbstractConnect {
  readonly #parts: AbstractConnectParts;
  readonly #info = new KernelBuffer(FD_INFO_BYTES_MAX);

  constructor(parts: AbstractConnectParts) {
    this.#parts = parts;
  }

  /** Zero, a negated errno, or `foreign` where the name is somebody else's. */
  make(socket: Fd, address: Buffer): number | "foreign" {
    const { listener, files, sockets } = this.#parts;
    const { domain, type } = sockets.kind(socket);
    if (domain !== AF_UNIX || (type !== SOCK_STREAM && type !== SOCK_SEQPACKET)) {
      return -Errno.EACCES;
    }
    const number = listener.intArgument(0);
    const flags = this.#flagsOf(`/proc/${listener.tid}/fdinfo/${number}`);
    if (flags === null) return -Errno.EBADF;
    // One that has a name, or a peer, cannot be replaced without a difference.
    const name = sockets.localAddress(socket);
    if (name === null || name.length > 2) return -Errno.EACCES;
    if (sockets.hasPeer(socket)) return -Errno.EISCONN;
    const own = sockets.open(AF_UNIX, type | O_NONBLOCK);
    if (own < 0) return own;
    const result = sockets.connect(own, address, O_NONBLOCK);
    const answer = result < 0 ? result : this.#handOver(own, number, flags);
    files.close(own);
    return answer;
  }

  #handOver(own: number, number: number, flags: number): number | "foreign" {
    const { listener, sockets } = this.#parts;
    if (!this.#isOwn(own)) return "foreign";
    sockets.setFlags(own, flags & O_NONBLOCK);
    const put = listener.putDescriptor(listener.id, own, number, flags & O_CLOEXEC);
    return put < 0 ? -Errno.EACCES : 0;
  }

  /** The peer is a process of the agent's, and was that all the time we looked. */
  #isOwn(socket: number): boolean {
    const { files, sockets, callers, listensForAgent } = this.#parts;
    const owner = sockets.peerProcess(socket);
    if (owner < 0) return false;
    const pid = this.#pidOf(owner);
    const isOurs =
      pid > 0 &&
      (descendsFromUs(callers, pid) || (listensForAgent && pid === process.pid)) &&
      this.#pidOf(owner) === pid;
    files.close(owner);
    return isOurs;
  }

  /** Below one: that process is gone, and its number may be another's. */
  #pidOf(pidfd: number): number {
    return Number(/^Pid:\t(-?\d+)$/m.exec(this.#text(`/proc/self/fdinfo/${pidfd}`))?.[1] ?? -1);
  }

  #flagsOf(path: string): number | null {
    const octal = /^flags:\t([0-7]+)$/m.exec(this.#text(path))?.[1];
    return octal === undefined ? null : Number.parseInt(octal, 8);
  }

  #text(path: string): string {
    const length = this.#parts.files.slurp(path, this.#info);
    return this.#info.bytes.toString("latin1", 0, Math.max(length, 0));
  }
}
