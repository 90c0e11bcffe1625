/** Reads the server name out of a TLS ClientHello, which may come in many records and segments. */

export type HelloReading =
  | { readonly kind: "more" }
  | { readonly kind: "not-tls" }
  /** `name` is null if the client does not say whom it wants. */
  | { readonly kind: "hello"; readonly name: string | null };

/** Post-quantum key shares make a hello of some 1.8 KB; nothing honest comes near this. */
export const HELLO_BYTES_MAX = 64 * 1024;

const RECORD_HANDSHAKE = 22;
const RECORD_HEAD_BYTES = 5;
const RECORD_BYTES_MAX = 16_384;
const CLIENT_HELLO = 1;
const HANDSHAKE_HEAD_BYTES = 4;
const EXTENSION_SERVER_NAME = 0;
const NAME_TYPE_HOST = 0;

const MORE: HelloReading = { kind: "more" };
const NOT_TLS: HelloReading = { kind: "not-tls" };

/** Takes everything that the client has sent so far. */
export function readClientHello(bytes: Uint8Array): HelloReading {
  const fragments: Uint8Array[] = [];
  /** Type and size, which may be spread over records. */
  const start: number[] = [];
  let length = 0;
  let at = 0;
  while (at < bytes.length) {
    if (bytes[at] !== RECORD_HANDSHAKE) return NOT_TLS;
    if (at + 1 < bytes.length && bytes[at + 1] !== 3) return NOT_TLS;
    if (at + RECORD_HEAD_BYTES > bytes.length) break;
    const size = word(bytes, at + 3);
    if (size === 0 || size > RECORD_BYTES_MAX) return NOT_TLS;
    const end = Math.min(at + RECORD_HEAD_BYTES + size, bytes.length);
    const fragment = bytes.subarray(at + RECORD_HEAD_BYTES, end);
    fragments.push(fragment);
    length += fragment.length;
    start.push(...fragment.subarray(0, HANDSHAKE_HEAD_BYTES - start.length));
    const [type = CLIENT_HELLO, ...sizes] = start;
    const helloBytes = sizes.reduce((sum, byte) => sum * 256 + byte, 0);
    if (type !== CLIENT_HELLO || helloBytes > HELLO_BYTES_MAX) return NOT_TLS;
    const whole = HANDSHAKE_HEAD_BYTES + helloBytes;
    // Joined once only: a hello in thousands of records would take minutes otherwise.
    if (start.length === HANDSHAKE_HEAD_BYTES && length >= whole) {
      return readHello(Buffer.concat(fragments).subarray(HANDSHAKE_HEAD_BYTES, whole));
    }
    at = at + RECORD_HEAD_BYTES + size;
  }
  return bytes.length > HELLO_BYTES_MAX ? NOT_TLS : MORE;
}

const word = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);

/** A cursor over bytes that answers null once it would leave them. */
class Cursor {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  number(bytes: 1 | 2): number | null {
    const part = this.take(bytes);
    if (part === null) return null;
    return bytes === 1 ? (part[0] ?? 0) : word(part, 0);
  }

  take(count: number): Uint8Array | null {
    if (this.#at + count > this.#bytes.length) return null;
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  /** A vector with its length before it. */
  vector(lengthBytes: 1 | 2): Uint8Array | null {
    const length = this.number(lengthBytes);
    return length === null ? null : this.take(length);
  }
}

function readHello(body: Uint8Array): HelloReading {
  const cursor = new Cursor(body);
  const isRead =
    cursor.take(2 + 32) !== null &&
    cursor.vector(1) !== null &&
    cursor.vector(2) !== null &&
    cursor.vector(1) !== null;
  if (!isRead) return NOT_TLS;
  if (cursor.isAtEnd) return { kind: "hello", name: null };
  const extensions = cursor.vector(2);
  if (extensions === null || !cursor.isAtEnd) return NOT_TLS;
  return readExtensions(new Cursor(extensions));
}

function readExtensions(extensions: Cursor): HelloReading {
  let found: string | null = null;
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (type === null || content === null) return NOT_TLS;
    if (type !== EXTENSION_SERVER_NAME) continue;
    const name = readServerName(content);
    // Two names, and servers would differ in which one they take.
    if (name === null || found !== null) return NOT_TLS;
    found = name;
  }
  return { kind: "hello", name: found };
}

function readServerName(content: Uint8Array): string | null {
  const outer = new Cursor(content);
  const list = outer.vector(2);
  if (list === null || !outer.isAtEnd) return null;
  const names = new Cursor(list);
  const type = names.number(1);
  const name = names.vector(2);
  if (type !== NAME_TYPE_HOST || name === null || !names.isAtEnd) return null;
  return Buffer.from(name).toString("latin1");
}
