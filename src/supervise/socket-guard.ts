/**
 * Connect, bind and listen: what they mean is in memory (the address) or in a table that threads
 * share (the descriptor), so nothing that was judged may go on in the caller.
 *
 * connect  The supervisor copies the address, takes the socket, judges, and makes the call itself
 *          on its own copies. What it connects to is an address that it wrote itself, or a socket
 *          file that it holds open.
 * listen   Likewise, on our copy of the socket. It is what opens a port to others, so it is here
 *          that ports are judged, by the one that the socket is bound to: a socket that is bound
 *          can be bound to another port only after a disconnect, which is a connect, which waits
 *          for its turn behind us.
 * bind     By itself it opens nothing, so the call may go on whatever becomes of its arguments
 *          meanwhile. It is looked at to say no early, and to leave a record. (Landlock holds TCP
 *          binds as well where it can, and unix binds as the making of a file.)
 *
 * A unix socket's peer asks the kernel who connected, or listens, and is told of the supervisor:
 * callers whose credentials are not the supervisor's own are therefore refused.
 */
import type { Fd } from "../../ffi/abi/brand.ts";
import { Errno } from "../../ffi/abi/errno.ts";
import { O_NONBLOCK } from "../../ffi/abi/file.ts";
import {
  AF_INET,
  AF_INET6,
  AF_UNIX,
  IPPROTO_TCP,
  SOCK_STREAM,
  SOCKADDR_BYTES_MAX,
} from "../../ffi/abi/socket.ts";
import { TRAPPED_CALLS } from "../../ffi/abi/syscall-numbers.ts";
import type { FileCalls } from "../../ffi/calls/file.ts";
import { ARCH } from "../../ffi/calls/libc.ts";
import type { Listener } from "../../ffi/calls/notify.ts";
import type { SocketCalls } from "../../ffi/calls/socket-calls.ts";
import type { EphemeralPorts, NetworkPin } from "../plan/network-pin.ts";
import { BLOCKED, judgeConnect, mayListen, UnixSockets } from "../plan/network-pin.ts";
import {
  disconnectAddress,
  loopbackAddress,
  readSocketAddress,
  type SocketAddress,
  unixAddress,
} from "../plan/socket-address.ts";
import { AbstractConnect } from "./abstract-connect.ts";
import type { ArgumentMemory } from "./argument-memory.ts";
import type { CallerReader } from "./caller.ts";
import { CallerCredentials } from "./caller-credentials.ts";
import { textOf } from "./latin1-text.ts";
import { OwnListeners } from "./own-listeners.ts";
import { isUnfinished, type PendingConnects } from "./pending-connects.ts";
import type { ProgramFinder } from "./program-file.ts";
import type { RefusedCall, SocketLog } from "./socket-log.ts";

export interface SocketGuardParts {
  readonly listener: Listener;
  readonly files: FileCalls;
  readonly sockets: SocketCalls;
  readonly memory: ArgumentMemory;
  readonly callers: CallerReader;
  readonly finder: ProgramFinder;
  readonly pin: NetworkPin;
  readonly ephemeralPorts: EphemeralPorts;
  readonly pending: PendingConnects;
  readonly log: SocketLog;
  readonly nowMs: () => number;
}

/** An address to connect to; the file is held until that is done. */
interface Target {
  readonly address: Uint8Array;
  readonly file: number | null;
}

const NUMBERS = TRAPPED_CALLS[ARCH];

export class SocketGuard {
  readonly #parts: SocketGuardParts;
  readonly #unixSockets: UnixSockets;
  readonly #credentials: CallerCredentials;
  readonly #abstract: AbstractConnect;
  readonly #own: OwnListeners;

  constructor(parts: SocketGuardParts) {
    this.#parts = parts;
    this.#unixSockets = new UnixSockets(parts.pin);
    this.#credentials = new CallerCredentials(parts.files);
    this.#own = new OwnListeners(parts.files);
    this.#abstract = new AbstractConnect({ ...parts, listensForAgent: parts.pin.hold === "pin" });
  }

  /** Handles the notification that the listener holds, if it is one of these calls. */
  handle(): boolean {
    switch (this.#parts.listener.callNumber) {
      case NUMBERS.connect:
        this.#withSocket((socket) => this.#connect(socket));
        return true;
      case NUMBERS.listen:
        this.#withSocket((socket) => this.#listen(socket));
        return true;
      case NUMBERS.bind:
        this.#withSocket((socket) => this.#bind(socket));
        return true;
      default:
        return false;
    }
  }

  /** Takes the caller's socket; `act` returns the answer, or null if it has seen to that. */
  #withSocket(act: (socket: Fd) => number | "kept" | "proceed"): void {
    const { listener, sockets } = this.#parts;
    const { id, tid } = listener;
    const taken = sockets.take(tid, listener.intArgument(0));
    if (taken < 0) {
      // EPERM: the caller made itself untouchable. To deny is all that is left.
      listener.refuse(id, taken === -Errno.EBADF ? Errno.EBADF : Errno.EACCES);
      return;
    }
    const result = act(taken as Fd);
    if (result === "kept") return;
    sockets.close(taken);
    if (result === "proceed") listener.proceed(id);
    else listener.refuse(id, -result);
  }

  /** The address among a call's arguments, copied; or the errno that the kernel has for it. */
  #address(): Buffer | number {
    const { listener, memory } = this.#parts;
    const length = listener.intArgument(2);
    if (length < 0 || length > SOCKADDR_BYTES_MAX) return -Errno.EINVAL;
    return memory.data(listener.tid, listener.argument(1), length) ?? -Errno.EFAULT;
  }

  #connect(socket: Fd): number | "kept" {
    const { listener, sockets, pin } = this.#parts;
    const bytes = this.#address();
    if (typeof bytes === "number") return bytes;
    const { domain, type, protocol } = sockets.kind(socket);
    if (domain < 0) return domain;
    const address = readSocketAddress(bytes);
    let target: Target | number;
    if (domain === AF_UNIX && address.kind === "abstract") {
      return this.#connectAbstract(socket, bytes, address.name);
    }
    if (domain === AF_UNIX) target = this.#unixTarget(address);
    else if (pin.hold === "unix") target = { address: bytes, file: null };
    else if ((domain === AF_INET || domain === AF_INET6) && type === SOCK_STREAM) {
      target = protocol === IPPROTO_TCP ? this.#inetTarget(domain, address) : -Errno.EACCES;
    } else target = -Errno.EACCES;
    if (typeof target === "number") return target;
    // What was read may be another process's, if this one is gone and its id was given away.
    if (!listener.alive(listener.id)) {
      if (target.file !== null) sockets.close(target.file);
      return -Errno.EINTR;
    }
    return this.#make(socket, domain, target);
  }

  /** Connects, now or later. */
  #make(socket: Fd, domain: number, { address, file }: Target): number | "kept" {
    const { listener, sockets, pending, nowMs } = this.#parts;
    const flags = sockets.flags(socket);
    let result = sockets.connect(socket, address, flags);
    const waits = (flags & O_NONBLOCK) === 0;
    // On this very machine a connection is there as soon as one looks again.
    if (waits && domain !== AF_UNIX && isUnfinished(result)) {
      result = sockets.connect(socket, address, flags);
    }
    if (waits && isUnfinished(result)) {
      const timeoutMs = sockets.sendTimeoutMs(socket);
      const isKept = pending.add({
        id: listener.id,
        tid: listener.tid,
        socket,
        flags,
        address,
        file,
        lateErrno: domain === AF_UNIX ? Errno.EAGAIN : Errno.EINPROGRESS,
        deadlineMs: timeoutMs === null ? null : nowMs() + timeoutMs,
        mustAsk: domain === AF_UNIX,
      });
      if (isKept) return "kept";
      result = -Errno.EAGAIN;
    }
    if (file !== null) sockets.close(file);
    return result;
  }

  #inetTarget(domain: typeof AF_INET | typeof AF_INET6, address: SocketAddress): Target | number {
    if (address.kind === "unspecified") return { address: disconnectAddress(), file: null };
    if (address.kind !== "inet") return -Errno.EAFNOSUPPORT;
    if (address.family !== domain) return -Errno.EAFNOSUPPORT;
    const verdict = judgeConnect(this.#parts.pin, address, (port) => this.#own.hold(port));
    if (verdict.action === "allow") {
      return { address: loopbackAddress(domain, verdict.address, verdict.port), file: null };
    }
    const { reason, grant } = verdict;
    const { address: target, port } = address;
    return this.#deny({ call: "connect", target, port, reason, grant });
  }

  #unixTarget(address: SocketAddress): Target | number {
    switch (address.kind) {
      case "path":
        return this.#pathTarget(address.path);
      case "unspecified":
        return { address: disconnectAddress(), file: null };
      default:
        return -Errno.EINVAL;
    }
  }

  #connectAbstract(socket: Fd, bytes: Buffer, name: string): number {
    const { listener } = this.#parts;
    if (!this.#credentials.areOurs(listener.tid) || !listener.alive(listener.id)) {
      return -Errno.EACCES;
    }
    const result = this.#abstract.make(socket, bytes);
    if (result !== "foreign") return result;
    const target = `@${textOf(name.replaceAll("\0", "@"))}`;
    const reason = "the abstract unix socket belongs to a program outside of the sandbox";
    this.#deny({ call: "connect", target, port: null, reason, grant: null });
    // What programs take for "nobody listens": some try a path next.
    return -Errno.ECONNREFUSED;
  }

  #pathTarget(path: string): Target | number {
    const { listener, callers, finder } = this.#parts;
    const { tid } = listener;
    const status = callers.status(tid);
    const cwd = callers.cwd(tid);
    if (status === null || cwd === null) return -Errno.EACCES;
    const file = finder.find(path, { tid, tgid: status.tgid }, cwd);
    if (typeof file === "number") return file;
    const text = textOf(file.realPath);
    const isCovered = file.kind === "file" && this.#unixSockets.covers(file.realPath, text);
    if (isCovered && this.#credentials.areOurs(tid)) {
      return { address: unixAddress(`/proc/self/fd/${file.fd}`), file: file.fd };
    }
    finder.release(file);
    const reason = isCovered
      ? "the caller has other credentials than faraday, and would be taken for it"
      : "the socket lies outside of what the policy grants";
    const grant = isCovered ? null : `unix_sockets = ["${text}"]`;
    return this.#deny({ call: "connect", target: text, port: null, reason, grant });
  }

  #listen(socket: Fd): number {
    const { listener, sockets, pin, ephemeralPorts } = this.#parts;
    const domain = sockets.domain(socket);
    if (domain < 0) return domain;
    if (domain === AF_UNIX) {
      if (!this.#credentials.areOurs(listener.tid)) return -Errno.EPERM;
    } else {
      const bound = readSocketAddress(sockets.localAddress(socket) ?? Buffer.alloc(0));
      if (bound.kind !== "inet") return -Errno.EACCES;
      if (!mayListen(pin, bound.port, ephemeralPorts)) return this.#denyPort("listen", bound);
    }
    if (!listener.alive(listener.id)) return -Errno.EINTR;
    const result = sockets.listen(socket, listener.intArgument(1));
    // The kernel may have chosen the port only now.
    const at = readSocketAddress(sockets.localAddress(socket) ?? Buffer.alloc(0));
    if (result === 0 && at.kind === "inet") this.#own.note(socket, at.port);
    return result;
  }

  #bind(socket: Fd): number | "proceed" {
    const { sockets, pin } = this.#parts;
    const domain = sockets.domain(socket);
    if (domain !== AF_INET && domain !== AF_INET6) return "proceed";
    const bytes = this.#address();
    if (typeof bytes === "number") return bytes;
    const address = readSocketAddress(bytes);
    if (address.kind !== "inet" || pin.bindPorts.includes(address.port)) return "proceed";
    return this.#denyPort("bind", address);
  }

  #denyPort(
    call: "bind" | "listen",
    { address, port }: Extract<SocketAddress, { kind: "inet" }>,
  ): number {
    const { isBlocked } = this.#parts.pin;
    const which = port === 0 ? "a port of the kernel's choice" : `port ${port}`;
    return this.#deny({
      call,
      target: address,
      port,
      reason: isBlocked ? BLOCKED : `${which} is not among the allowed bind ports`,
      grant: isBlocked ? null : `allowed_bind_ports = [${port}]`,
    });
  }

  /** Leaves a record; the answer. */
  #deny(refused: RefusedCall): number {
    const { listener, callers, log } = this.#parts;
    log.denied(refused, callers.status(listener.tid), listener.tid);
    return -Errno.EACCES;
  }
}
