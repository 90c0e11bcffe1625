import type { Client, ModelRequest, ToolCall, Turn } from "./client.ts";

/** A scripted stand-in of a model's API on loopback; it asks for one tool call after the other. */
export class ModelServer {
  /** The results of the tool calls, as the client reported them. */
  answers: readonly string[] = [];
  readonly keys = new Set<string | null>();
  /** What was asked, for the reader of a failed trial. */
  readonly requests: string[] = [];
  ended = false;
  readonly #server: Bun.Server<undefined>;

  constructor(
    readonly client: Client,
    readonly calls: readonly ToolCall[],
  ) {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      fetch: (request) => this.#answer(request),
    });
  }

  get port(): number {
    return this.#server.port ?? 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  [Symbol.dispose](): void {
    this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    this.requests.push(`${request.method} ${pathname}`);
    const { dialect } = this.client;
    // Clients ask for other things as well (models, quotas) and live without an answer.
    if (request.method !== "POST") return Response.json({});
    const body = (await request.json().catch(() => ({}))) as ModelRequest;
    this.keys.add(dialect.keyOf(request));
    if (!dialect.wantsTurn(request, body)) {
      return dialect.reply({ kind: "end", text: "{}" }, request, body);
    }
    const answers = dialect.answersIn(body);
    if (answers.length >= this.answers.length) this.answers = answers;
    const call = this.calls[answers.length];
    if (call === undefined) this.ended = true;
    const turn: Turn =
      call === undefined
        ? { kind: "end", text: "All errands are done." }
        : { kind: "call", id: `call_${answers.length}`, call };
    return dialect.reply(turn, request, body);
  }
}
