import { BodyFramer } from "./body-framer.ts";
import {
  endToEndFields,
  findHeadEnd,
  type HeaderField,
  parseResponseHead,
  type RequestHead,
  type ResponseHead,
  renderHead,
  tokensOf,
  wantsMore,
} from "./http-head.ts";
import type { Leg, LegListener } from "./leg.ts";

/** How a request and its answer came to their end. */
export type ExchangeEnd =
  | { readonly kind: "done"; readonly keepClient: boolean; readonly keepUpstream: boolean }
  /** 101: both sides speak something else from here on; `early` came with the answer. */
  | { readonly kind: "upgraded"; readonly early: Buffer }
  /** A connection that had been kept was closed before it answered: it may be tried anew. */
  | { readonly kind: "stale" }
  /** Nothing was answered yet, so the client can be told. */
  | { readonly kind: "failed"; readonly status: 400 | 502 | 504; readonly reason: string }
  /** The answer had begun: the client can only be cut off. */
  | { readonly kind: "broken"; readonly reason: string };

export interface ExchangeOptions {
  readonly client: Leg;
  readonly upstream: Leg;
  readonly request: RequestHead;
  /** The request line and the fields as they go upstream. */
  readonly line: string;
  readonly fields: readonly HeaderField[];
  /** Takes out of a line of the answer's head what the client must not see. */
  readonly hide: (text: string) => string;
  /** The upstream connection has served another request before. */
  readonly isReused: boolean;
  readonly done: (end: ExchangeEnd) => void;
}

const EMPTY = Buffer.alloc(0);

/** Carries one request up and its answer down, each byte as soon as it comes. */
export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #requestBody: BodyFramer;
  readonly #isUpgrade: boolean;
  #responseBody: BodyFramer | null = null;
  #response: ResponseHead | null = null;
  #head: Buffer = EMPTY;
  #scanned = 0;
  #hasBegunAnswer = false;
  #isOver = false;
  #keepClient = false;
  /** The upstream sent more than its answer: whatever that is, it is nobody's. */
  #hasExtra = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#requestBody = new BodyFramer(options.request.framing);
    this.#isUpgrade = isWebSocket(options.request);
    options.upstream.listener = this.#upstreamListener();
  }

  get hasAnswered(): boolean {
    return this.#response !== null;
  }

  start(): void {
    const { upstream, request, line, fields } = this.#options;
    const own = connectionFields(request, { isUpgrade: this.#isUpgrade });
    upstream.writeHead(renderHead(line, [...fields, ...own]));
    upstream.resume();
    if (upstream.hasEnded) this.#upstreamEnded();
  }

  /** Bytes of the client; returns those behind the request, which are another's. */
  fromClient(bytes: Buffer): Buffer {
    const { upstream, client } = this.#options;
    const taken = this.#requestBody.take(bytes);
    if (this.#requestBody.state === "bad") {
      this.#over({ kind: "failed", status: 400, reason: "a chunk of the body is malformed" });
      return EMPTY;
    }
    if (taken > 0 && !upstream.write(bytes.subarray(0, taken))) client.pause();
    return bytes.subarray(taken);
  }

  clientEnded(): void {
    if (this.#requestBody.state === "done") return;
    this.#over({ kind: "failed", status: 400, reason: "the body ended early" });
  }

  clientDrained(): void {
    this.#options.upstream.resume();
  }

  /** From outside: too slow, or the client is gone. */
  abort(status: 502 | 504, reason: string): void {
    this.#over({ kind: "failed", status, reason });
  }

  #upstreamListener(): LegListener {
    return {
      data: (bytes) => this.#fromUpstream(bytes),
      end: () => this.#upstreamEnded(),
      drained: () => this.#options.client.resume(),
      closed: () => this.#upstreamEnded(),
    };
  }

  #fromUpstream(bytes: Buffer): void {
    if (this.#isOver) return;
    const rest = this.#response === null ? this.#readHeads(bytes) : bytes;
    if (rest.length > 0 && this.#response !== null && !this.#isOver) this.#readBody(rest);
  }

  /** Interim answers (100, 103) go down as they are, and the final one after them. */
  #readHeads(bytes: Buffer): Buffer {
    this.#head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes]);
    while (this.#response === null && !this.#isOver) {
      const end = findHeadEnd(this.#head, this.#scanned);
      if (!end.ok) return this.#badAnswer(end.error);
      if (end.value === "more") {
        this.#scanned = this.#head.length;
        return EMPTY;
      }
      const text = this.#head.toString("latin1", 0, end.value);
      this.#head = this.#head.subarray(end.value);
      this.#scanned = 0;
      const parsed = parseResponseHead(this.#options.hide(text), this.#options.request.method);
      if (!parsed.ok) return this.#badAnswer(parsed.error);
      this.#takeHead(parsed.value);
    }
    const rest = this.#head;
    this.#head = EMPTY;
    return rest;
  }

  #takeHead(head: ResponseHead): void {
    const { client, upstream, request } = this.#options;
    if (head.status === 101) {
      if (!this.#isUpgrade) {
        this.#badAnswer("it switched protocols without being asked");
        return;
      }
      client.write(renderHead(`HTTP/1.1 101 ${head.phrase}`, upgradeFields(head.fields)));
      const early = this.#head;
      this.#over({ kind: "upgraded", early });
      return;
    }
    if (head.status < 200) {
      if (request.minorVersion === 0) return;
      if (!client.write(statusHead(head, endToEndFields(head.fields)))) upstream.pause();
      return;
    }
    this.#response = head;
    this.#responseBody = new BodyFramer(head.framing);
    const fields = endToEndFields(head.fields);
    this.#keepClient = this.#keepsClient();
    const close: HeaderField[] = this.#keepClient ? [] : [["Connection", "close"]];
    this.#hasBegunAnswer = true;
    this.#hasExtra = this.#head.length > 0;
    client.writeHead(statusHead(head, [...fields, ...close]));
    if (this.#responseBody.state === "done") this.#finish();
  }

  #badAnswer(reason: string): Buffer {
    this.#over({ kind: "failed", status: 502, reason: `its answer is no HTTP/1.1: ${reason}` });
    return EMPTY;
  }

  #readBody(bytes: Buffer): void {
    const body = this.#responseBody;
    if (body === null) return;
    const taken = body.take(bytes);
    if (body.state === "bad") {
      this.#over({ kind: "broken", reason: "a chunk of the answer is malformed" });
      return;
    }
    const part = taken === bytes.length ? bytes : bytes.subarray(0, taken);
    if (taken > 0 && !this.#options.client.write(part)) this.#options.upstream.pause();
    if (body.state !== "done") return;
    this.#hasExtra = taken < bytes.length;
    this.#finish();
  }

  #upstreamEnded(): void {
    if (this.#isOver) return;
    const { isReused } = this.#options;
    if (this.#response === null) {
      const isUntouched = this.#head.length === 0;
      if (isReused && isUntouched) this.#over({ kind: "stale" });
      else this.abort(502, "it closed the connection without an answer");
    } else if (this.#response.framing.kind === "until-close") this.#finish();
    else this.#over({ kind: "broken", reason: "the answer ended early" });
  }

  #keepsClient(): boolean {
    const { request } = this.#options;
    if (this.#response?.framing.kind === "until-close" || !wantsMore(request)) return false;
    return this.#requestBody.state === "done";
  }

  #finish(): void {
    const response = this.#response;
    if (response === null) return;
    const isWhole = this.#requestBody.state === "done";
    const keepUpstream =
      isWhole &&
      !this.#hasExtra &&
      response.minorVersion === 1 &&
      response.framing.kind !== "until-close" &&
      !this.#options.upstream.hasEnded &&
      !tokensOf(response.fields, "connection").includes("close");
    this.#over({ kind: "done", keepClient: this.#keepClient, keepUpstream });
  }

  #over(end: ExchangeEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const isBroken = end.kind === "failed" && this.#hasBegunAnswer;
    this.#options.done(isBroken ? { kind: "broken", reason: end.reason } : end);
  }
}

function statusHead({ status, phrase }: ResponseHead, fields: readonly HeaderField[]): Buffer {
  return renderHead(`HTTP/1.1 ${status} ${phrase}`, fields);
}

function upgradeFields(fields: readonly HeaderField[]): readonly HeaderField[] {
  return [...endToEndFields(fields), ["Connection", "Upgrade"], ["Upgrade", "websocket"]];
}

function isWebSocket({ fields, framing, minorVersion }: RequestHead): boolean {
  const asks = tokensOf(fields, "connection").includes("upgrade");
  const wants = tokensOf(fields, "upgrade");
  const isPlain = framing.kind === "none" && minorVersion === 1;
  return isPlain && asks && wants.length === 1 && wants[0] === "websocket";
}

function connectionFields(
  request: RequestHead,
  options: { readonly isUpgrade: boolean },
): readonly HeaderField[] {
  if (options.isUpgrade) {
    return [
      ["Connection", "Upgrade"],
      ["Upgrade", "websocket"],
    ];
  }
  return request.minorVersion === 0 ? [["Connection", "close"]] : [];
}
