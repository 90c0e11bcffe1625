import type { Socket } from "bun";

const HEAD_END = Buffer.from("\r\n\r\n");

interface Waiting {
  readonly bodyBytes: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** One connection of the load: asks, and waits for the whole answer. */
export class ProxyClient {
  readonly #socket: Socket<ProxyClient>;
  #head: Buffer = Buffer.alloc(0);
  #bodyBytesLeft: number | null = null;
  #waiting: Waiting | null = null;

  private constructor(socket: Socket<ProxyClient>) {
    this.#socket = socket;
  }

  static to(port: number): Promise<ProxyClient> {
    return new Promise((resolve, reject) => {
      Bun.connect<ProxyClient>({
        hostname: "127.0.0.1",
        port,
        socket: {
          open: (socket) => {
            socket.data = new ProxyClient(socket);
            resolve(socket.data);
          },
          data: (socket, bytes) => socket.data.#received(bytes),
          close: (socket) => socket.data?.failed("the connection was closed"),
          error: (socket, error) => socket.data?.failed(error.message),
          connectError: (_, error) => reject(error),
        },
      }).catch(reject);
    });
  }

  /** Sends a head and waits for an answer of 200 with so many bytes behind its own head. */
  ask(head: string, bodyBytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting = { bodyBytes, resolve, reject };
      this.#bodyBytesLeft = null;
      this.#socket.write(head);
    });
  }

  close(): void {
    this.#waiting = null;
    this.#socket.end();
  }

  #received(bytes: Buffer): void {
    let bodyBytes = bytes.length;
    if (this.#bodyBytesLeft === null) {
      this.#head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes]);
      const end = this.#head.indexOf(HEAD_END);
      if (end < 0) return;
      if (this.#head.toString("latin1", 8, 12) !== " 200") {
        this.failed(this.#head.toString("latin1", 0, end));
        return;
      }
      bodyBytes = this.#head.length - end - HEAD_END.length;
      this.#head = Buffer.alloc(0);
      this.#bodyBytesLeft = this.#waiting?.bodyBytes ?? 0;
    }
    this.#bodyBytesLeft -= bodyBytes;
    if (this.#bodyBytesLeft > 0) return;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve();
  }

  failed(reason: string): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(new Error(`no answer: ${reason}`));
  }
}
