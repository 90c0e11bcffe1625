import type { Socket, SocketHandler } from "bun";

/** Who listens to a leg; it changes as a connection goes from its head to a body to a tunnel. */
export interface LegListener {
  readonly data: (bytes: Buffer) => void;
  /** The other side will send nothing more. */
  readonly end: () => void;
  /** Everything that was written has been taken: more may come. */
  readonly drained: () => void;
  /** Gone, and nothing more can be written. Told once. */
  readonly closed: (reason: string | null) => void;
}

/** To whom the events of a socket go. */
export interface SocketOwner {
  readonly received: (bytes: Buffer) => void;
  readonly flushed: () => void;
  readonly ended: () => void;
  readonly gone: (reason: string | null) => void;
}

/** Beyond this, copying two pieces into one costs more than a second system call. */
const JOINED_BYTES_MAX = 16 * 1024;

const DEAF: LegListener = { data: () => {}, end: () => {}, drained: () => {}, closed: () => {} };

/**
 * One side of a connection: a socket with a queue for what the kernel does not take at once. What
 * has been queued is sent before an end or a close, since closing at once loses the last bytes.
 */
export class Leg implements SocketOwner {
  listener: LegListener = DEAF;
  bytesIn = 0;
  bytesOut = 0;
  /** Milliseconds of the clock at which a byte last passed. */
  lastActiveMs: number;
  readonly #clock: () => number;
  #socket: Socket<SocketOwner> | null;
  #queue: Uint8Array[] = [];
  /** A head that waits for its body, at most until the present event has been dealt with. */
  #head: Uint8Array | null = null;
  #ending: "no" | "finish" | "close" = "no";
  #isFinished = false;
  #isPaused = false;
  #hasEnded = false;

  constructor(socket: Socket<SocketOwner>, clock: () => number) {
    this.#socket = socket;
    this.#clock = clock;
    this.lastActiveMs = clock();
  }

  get isOpen(): boolean {
    return this.#socket !== null;
  }

  /** True once the other side has ended its half. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get isBacklogged(): boolean {
    return this.#queue.length > 0;
  }

  /** False if some of it had to be queued: then whoever feeds this leg pauses until `drained`. */
  write(bytes: Uint8Array): boolean {
    if (this.#socket === null || this.#ending !== "no") return true;
    this.bytesOut += bytes.length;
    return this.#send(this.#withHead(bytes));
  }

  /**
   * Writes a head together with what is written next, if that comes at once: in two pieces they
   * would wake the receiver twice.
   */
  writeHead(head: Uint8Array): void {
    if (this.#socket === null || this.#ending !== "no") return;
    this.#sendHead();
    this.bytesOut += head.length;
    this.#head = head;
    queueMicrotask(() => this.#sendHead());
  }

  #sendHead(): void {
    const head = this.#head;
    this.#head = null;
    if (head !== null) this.#send(head);
  }

  /** The bytes behind the head that waits, if one does; a large body follows it by itself. */
  #withHead(bytes: Uint8Array): Uint8Array {
    const head = this.#head;
    if (head === null) return bytes;
    if (head.length + bytes.length > JOINED_BYTES_MAX) {
      this.#sendHead();
      return bytes;
    }
    this.#head = null;
    return Buffer.concat([head, bytes]);
  }

  #send(bytes: Uint8Array): boolean {
    if (this.#socket === null) return true;
    if (this.#queue.length > 0) {
      this.#queue.push(bytes);
      return false;
    }
    const written = Math.max(0, this.#socket.write(bytes));
    if (written >= bytes.length) return true;
    this.#queue.push(bytes.subarray(written));
    return false;
  }

  /** Ends our half once the queue is empty; the other half stays open. */
  finish(): void {
    if (this.#ending !== "no") return;
    this.#sendHead();
    this.#ending = "finish";
    this.#settle();
  }

  /** Closes both halves once the queue is empty. */
  close(): void {
    if (this.#ending === "close") return;
    this.#sendHead();
    this.#ending = "close";
    // Nobody reads what still comes, and a peer that keeps sending must not keep the socket.
    this.resume();
    this.listener = { ...DEAF, closed: this.listener.closed };
    this.#settle();
  }

  /** Cuts the connection; what is queued is lost. */
  destroy(): void {
    this.#queue = [];
    this.#head = null;
    this.#socket?.terminate();
  }

  pause(): void {
    if (this.#isPaused || this.#socket === null) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isPaused || this.#socket === null) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  received(bytes: Buffer): void {
    this.bytesIn += bytes.length;
    this.lastActiveMs = this.#clock();
    this.listener.data(bytes);
  }

  flushed(): void {
    this.lastActiveMs = this.#clock();
    while (this.#queue.length > 0 && this.#socket !== null) {
      const [first] = this.#queue;
      if (first === undefined) break;
      const written = Math.max(0, this.#socket.write(first));
      if (written < first.length) {
        this.#queue[0] = first.subarray(written);
        return;
      }
      this.#queue.shift();
    }
    this.#settle();
    if (this.#ending === "no") this.listener.drained();
  }

  ended(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.listener.end();
  }

  gone(reason: string | null): void {
    if (this.#socket === null) return;
    this.#socket = null;
    this.#queue = [];
    this.#head = null;
    this.listener.closed(reason);
    this.listener = DEAF;
  }

  #settle(): void {
    if (this.#queue.length > 0 || this.#socket === null) return;
    if (this.#ending === "close") this.#socket.end();
    else if (this.#ending === "finish" && !this.#isFinished) {
      this.#isFinished = true;
      this.#socket.shutdown();
    }
  }
}

/** The events of every socket of the proxy, which lead to its owner. */
export const SOCKET_EVENTS: Omit<SocketHandler<SocketOwner>, "open"> = {
  data: (socket, bytes) => socket.data.received(bytes),
  drain: (socket) => socket.data.flushed(),
  end: (socket) => socket.data.ended(),
  close: (socket, error) => socket.data?.gone(error === undefined ? null : String(error)),
  error: (socket, error) => socket.data?.gone(error.message),
};

/** Carries bytes both ways until both sides have ended, and keeps the slower one from drowning. */
export function joinLegs(one: Leg, other: Leg, done: () => void): void {
  const state = { open: 2 };
  const halfDone = (): void => {
    state.open--;
    if (state.open === 0) done();
  };
  one.listener = pipeTo(one, other, halfDone);
  other.listener = pipeTo(other, one, halfDone);
  // What came before they were joined was not heard.
  if (one.hasEnded) other.finish();
  if (other.hasEnded) one.finish();
  if (!one.isBacklogged) other.resume();
  if (!other.isBacklogged) one.resume();
}

function pipeTo(from: Leg, to: Leg, closed: () => void): LegListener {
  return {
    data: (bytes) => {
      if (!to.write(bytes)) from.pause();
    },
    end: () => to.finish(),
    drained: () => to.resume(),
    closed: () => {
      to.close();
      closed();
    },
  };
}
