import { Errno } from "../../ffi/abi/errno.ts";
import type { Listener } from "../../ffi/calls/notify.ts";
import type { SocketCalls } from "../../ffi/calls/socket-calls.ts";
import type { CallerReader } from "./caller.ts";

/** A connect whose caller waits for its end. */
export interface WaitingConnect {
  readonly id: bigint;
  readonly tid: number;
  /** Our copy of the caller's socket. */
  readonly socket: number;
  readonly flags: number;
  readonly address: Uint8Array;
  /** Kept open so that the address means what was judged; null if it names no file. */
  readonly file: number | null;
  /** What the kernel answers when the socket's own timeout is over, and when that is. */
  readonly lateErrno: number;
  readonly deadlineMs: number | null;
  /** A full queue of a unix socket makes no descriptor ready when it has room again. */
  readonly mustAsk: boolean;
}

const ASK_MS = 10;
/** How late a caller may be woken that died or has a signal to handle. */
const LOOK_MS = 50;
/** Each holds a descriptor or two of ours. */
const WAITING_MAX = 512;

/** Results that mean: not yet. */
const UNFINISHED: readonly number[] = [-Errno.EINPROGRESS, -Errno.EALREADY, -Errno.EAGAIN];

export const isUnfinished = (result: number): boolean => UNFINISHED.includes(result);

export interface PendingConnectsParts {
  readonly listener: Listener;
  readonly sockets: SocketCalls;
  readonly callers: CallerReader;
  readonly nowMs: () => number;
}

/**
 * Connects that take their time. The loop must not wait for any of them, so each is started without
 * waiting, looked at when its socket is ready, and answered when it is done, too late, or when its
 * caller has a signal to handle.
 */
export class PendingConnects {
  readonly #parts: PendingConnectsParts;
  #waiting: readonly WaitingConnect[] = [];

  constructor(parts: PendingConnectsParts) {
    this.#parts = parts;
  }

  /** False if there are too many already. */
  add(connect: WaitingConnect): boolean {
    if (this.#waiting.length >= WAITING_MAX) return false;
    this.#waiting = [...this.#waiting, connect];
    return true;
  }

  /** What the loop waits for besides everything else. */
  get sockets(): readonly number[] {
    return this.#waiting.filter(({ mustAsk }) => !mustAsk).map(({ socket }) => socket);
  }

  /** When to come back at the latest; -1 is never. */
  get timeoutMs(): number {
    if (this.#waiting.length === 0) return -1;
    return this.#waiting.some(({ mustAsk }) => mustAsk) ? ASK_MS : LOOK_MS;
  }

  /** Answers those that are done. */
  turn(): void {
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.filter((connect) => !this.#settle(connect));
  }

  #settle(connect: WaitingConnect): boolean {
    const { listener, sockets, callers, nowMs } = this.#parts;
    if (!listener.alive(connect.id)) return this.#end(connect);
    const result = sockets.connect(connect.socket, connect.address, connect.flags);
    if (!isUnfinished(result)) return this.#end(connect, result);
    if (connect.deadlineMs !== null && nowMs() >= connect.deadlineMs) {
      return this.#end(connect, -connect.lateErrno);
    }
    // The kernel would interrupt the call for a handler; the connect itself goes on either way.
    return callers.hasHandlerDue(connect.tid) ? this.#end(connect, -Errno.EINTR) : false;
  }

  #end(connect: WaitingConnect, result?: number): true {
    const { listener, sockets } = this.#parts;
    sockets.close(connect.socket);
    if (connect.file !== null) sockets.close(connect.file);
    if (result !== undefined) listener.refuse(connect.id, -result);
    return true;
  }
}
