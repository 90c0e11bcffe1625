import type { Fd } from "../abi/brand.ts";
import { Errno } from "../abi/errno.ts";
import { F_GETFL, F_SETFL, O_NONBLOCK } from "../abi/file.ts";
import { PIDFD_THREAD } from "../abi/pidfd.ts";
import {
  SO_DOMAIN,
  SO_PEERPIDFD,
  SO_PROTOCOL,
  SO_SNDTIMEO,
  SO_TYPE,
  SOCK_CLOEXEC,
  SOCKADDR_BYTES_MAX,
  SOL_SOCKET,
  Timeval,
} from "../abi/socket.ts";
import { KernelBuffer, sys } from "./libc.ts";

/** What the kernel says a socket is; values below zero are negated errnos. */
export interface SocketKind {
  readonly domain: number;
  readonly type: number;
  readonly protocol: number;
}

/** Calls on other processes' sockets, through copies of their descriptors. */
export class SocketCalls {
  readonly #value = new KernelBuffer(Timeval.size);
  readonly #length = new KernelBuffer(4);
  readonly #address = new KernelBuffer(SOCKADDR_BYTES_MAX);

  /** A copy of the descriptor that a thread has under this number, or a negated errno. */
  take(tid: number, fd: number): Fd | number {
    let pidfd = sys("pidfd_open", tid, PIDFD_THREAD);
    // Before Linux 6.9 only a process can be named. Threads share its table, unless they took
    // pains not to, and then the call fails or means another socket of the same process.
    if (pidfd === -Errno.EINVAL) pidfd = sys("pidfd_open", tid, 0);
    if (pidfd < 0) return pidfd;
    const copy = sys("pidfd_getfd", pidfd, fd, 0);
    sys("close", pidfd);
    return copy;
  }

  /** A socket of our own; `type` may carry flags. */
  open(domain: number, type: number): Fd | number {
    return sys("socket", domain, type | SOCK_CLOEXEC, 0);
  }

  close(fd: Fd | number): void {
    sys("close", fd);
  }

  domain(fd: Fd | number): number {
    return this.#option(fd, SO_DOMAIN);
  }

  kind(fd: Fd | number): SocketKind {
    return {
      domain: this.#option(fd, SO_DOMAIN),
      type: this.#option(fd, SO_TYPE),
      protocol: this.#option(fd, SO_PROTOCOL),
    };
  }

  /** The flags of the open file, which all copies share. */
  flags(fd: Fd | number): number {
    return sys("fcntl", fd, F_GETFL);
  }

  setFlags(fd: Fd | number, flags: number): void {
    sys("fcntl", fd, F_SETFL, flags);
  }

  hasPeer(fd: Fd | number): boolean {
    this.#length.view.setUint32(0, SOCKADDR_BYTES_MAX, true);
    return sys("getpeername", fd, this.#address.address, this.#length.address) === 0;
  }

  /** A pidfd of whoever connected or listens at the other end, or a negated errno. */
  peerProcess(fd: Fd | number): Fd | number {
    return this.#option(fd, SO_PEERPIDFD);
  }

  /**
   * Starts a connect, or asks after one under way, and never waits. A file that waits is made not
   * to for the moment: a connect has no flag of its own for that.
   */
  connect(fd: Fd | number, address: Uint8Array, flags: number): number {
    this.#address.bytes.set(address);
    const waits = (flags & O_NONBLOCK) === 0;
    if (waits) sys("fcntl", fd, F_SETFL, flags | O_NONBLOCK);
    const result = sys("connect", fd, this.#address.address, address.length);
    if (waits) sys("fcntl", fd, F_SETFL, flags);
    return result;
  }

  listen(fd: Fd | number, backlog: number): number {
    return sys("listen", fd, backlog);
  }

  /** The address that a socket is bound to, as the kernel lays it out; null if it has none. */
  localAddress(fd: Fd | number): Buffer | null {
    this.#length.view.setUint32(0, SOCKADDR_BYTES_MAX, true);
    const asked = sys("getsockname", fd, this.#address.address, this.#length.address);
    if (asked < 0) return null;
    const length = Math.min(this.#length.view.getUint32(0, true), SOCKADDR_BYTES_MAX);
    return Buffer.from(this.#address.bytes.subarray(0, length));
  }

  /** How long a connect may wait; null is for ever. */
  sendTimeoutMs(fd: Fd | number): number | null {
    if (this.#get(fd, SO_SNDTIMEO, Timeval.size) < 0) return null;
    const seconds = this.#value.u64(Timeval.at.seconds);
    const ms = seconds * 1000 + this.#value.u64(Timeval.at.microseconds) / 1000;
    return ms === 0 ? null : ms;
  }

  #option(fd: Fd | number, name: number): number {
    const got = this.#get(fd, name, 4);
    return got < 0 ? got : this.#value.view.getInt32(0, true);
  }

  #get(fd: Fd | number, name: number, bytes: number): number {
    this.#length.view.setUint32(0, bytes, true);
    const { address } = this.#value;
    return sys("getsockopt", fd, SOL_SOCKET, name, address, this.#length.address);
  }
}
