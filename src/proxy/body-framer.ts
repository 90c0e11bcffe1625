/** Follows a message body byte by byte to its end, and takes nothing that has two readings. */
import type { Framing } from "./http-head.ts";

export type FramerState = "more" | "done" | "bad";

/** A size of eight digits is four gigabytes; real chunks are smaller. */
const SIZE_DIGITS_MAX = 8;
const TRAILER_BYTES_MAX = 16 * 1024;
const TRAILER_FIELD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[ \t]*[\t\x20-\x7e\x80-\xff]*$/;
/** What would change the message after the fact. */
const TRAILER_REFUSED = /^(?:content-length|transfer-encoding|host|trailer|authorization):/i;

type ChunkPlace = "size" | "size-lf" | "data" | "data-cr" | "data-lf" | "trailer";

const CR = 13;
const LF = 10;

/**
 * Chunks are handed on as they came, so they are held to the plainest form: no extensions, CR LF
 * at every line's end, and trailers that are header fields.
 */
export class BodyFramer {
  #state: FramerState;
  readonly #framing: Framing;
  #left: number;
  #place: ChunkPlace = "size";
  #digits = 0;
  #line = "";
  #trailerBytes = 0;

  constructor(framing: Framing) {
    this.#framing = framing;
    this.#left = framing.kind === "length" ? framing.bytes : 0;
    this.#state = framing.kind === "none" ? "done" : "more";
  }

  get state(): FramerState {
    return this.#state;
  }

  /** How many of these bytes belong to the body; after `bad`, none may be used. */
  take(bytes: Uint8Array): number {
    if (this.#state !== "more") return 0;
    switch (this.#framing.kind) {
      case "until-close":
        return bytes.length;
      case "length": {
        const taken = Math.min(this.#left, bytes.length);
        this.#left -= taken;
        if (this.#left === 0) this.#state = "done";
        return taken;
      }
      case "chunked":
        return this.#takeChunks(bytes);
      case "none":
        return 0;
      default:
        return this.#framing satisfies never;
    }
  }

  #takeChunks(bytes: Uint8Array): number {
    let at = 0;
    while (at < bytes.length && this.#state === "more") {
      if (this.#place === "data") {
        const taken = Math.min(this.#left, bytes.length - at);
        this.#left -= taken;
        at += taken;
        if (this.#left === 0) this.#place = "data-cr";
      } else {
        this.#takeMark(bytes[at] ?? 0);
        at++;
      }
    }
    return at;
  }

  /** One byte of what stands between the data of chunks. */
  #takeMark(byte: number): void {
    switch (this.#place) {
      case "size": {
        const digit = hexDigit(byte);
        if (digit >= 0 && this.#digits < SIZE_DIGITS_MAX) {
          this.#left = this.#left * 16 + digit;
          this.#digits++;
        } else if (byte === CR && this.#digits > 0) this.#place = "size-lf";
        else this.#state = "bad";
        return;
      }
      case "size-lf":
        this.#digits = 0;
        this.#expect(byte, LF, this.#left === 0 ? "trailer" : "data");
        return;
      case "data-cr":
        this.#expect(byte, CR, "data-lf");
        return;
      case "data-lf":
        this.#expect(byte, LF, "size");
        return;
      case "trailer":
        this.#takeTrailer(byte);
        return;
      default:
        this.#place satisfies "data";
    }
  }

  #expect(byte: number, wanted: number, next: ChunkPlace): void {
    if (byte === wanted) this.#place = next;
    else this.#state = "bad";
  }

  #takeTrailer(byte: number): void {
    this.#trailerBytes++;
    this.#line += String.fromCharCode(byte);
    if (this.#trailerBytes > TRAILER_BYTES_MAX) this.#state = "bad";
    if (byte !== LF) return;
    const line = this.#line.slice(0, -2);
    if (!this.#line.endsWith("\r\n")) this.#state = "bad";
    else if (line === "") this.#state = "done";
    else if (!TRAILER_FIELD.test(line) || TRAILER_REFUSED.test(line)) this.#state = "bad";
    this.#line = "";
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
