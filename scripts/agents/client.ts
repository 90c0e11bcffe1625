import type { TrialPlace } from "./trial-place.ts";

/** What the scripted model may ask of any client; each client has its own tool for it. */
export type Wish =
  | { readonly kind: "shell"; readonly command: string }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly content: string }
  | {
      readonly kind: "edit";
      readonly path: string;
      readonly before: string;
      readonly after: string;
    };

export interface ToolCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What the model says next: a call of a tool, or its last words. */
export type Turn =
  | { readonly kind: "call"; readonly id: string; readonly call: ToolCall }
  | { readonly kind: "end"; readonly text: string };

/** How a client and its model talk over HTTP. */
export interface Dialect {
  /** Requests that want no errand (a title, a summary) get the last words at once. */
  readonly wantsTurn: (request: Request, body: ModelRequest) => boolean;
  /** The results of all tool calls so far, in order. */
  readonly answersIn: (body: ModelRequest) => readonly string[];
  readonly reply: (turn: Turn, request: Request, body: ModelRequest) => Response;
  /** The key that the client sent. */
  readonly keyOf: (request: Request) => string | null;
}

/** A request's body, of which each dialect knows its own part. */
export type ModelRequest = Readonly<Record<string, unknown>>;

export interface Start {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Settings of the client, by their names below the home directory. */
  readonly files: Readonly<Record<string, string>>;
}

export interface Client {
  readonly name: string;
  readonly packageName: string;
  readonly version: string;
  /** The policy that ships for this client. */
  readonly profile: string;
  /**
   * Set where the client takes its model's address from the environment: then it asks through a
   * route of the proxy, which knows the key, and the client does not.
   */
  readonly route: {
    readonly urlVariable: string;
    readonly keyVariable: string;
    readonly header: string;
    /** Whether the commands that it runs get the variable; some clients keep it from them. */
    readonly handsOnKey: boolean;
  } | null;
  /** The program, below node_modules. */
  readonly program: string;
  readonly dialect: Dialect;
  /** Null where the client has no such tool, or refuses on its own what the trial asks. */
  readonly toolFor: (wish: Wish) => ToolCall | null;
  readonly start: (program: string, modelUrl: string, place: TrialPlace) => Start;
}

export const TASK = "Make the test pass, then commit.";
/** No real key is needed, since no real model is asked. */
export const KEY = "key-of-the-trial";

/** Server-sent events, as all three APIs stream. */
export function eventStream(
  events: readonly (Readonly<Record<string, unknown>> & { readonly type?: string })[],
): Response {
  const text = events
    .map((event) => {
      const name = event.type === undefined ? "" : `event: ${event.type}\n`;
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

/** Whatever a client sends as a tool's result, as text to search in. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

export function listIn(body: ModelRequest, key: string): readonly ModelRequest[] {
  const value = body[key];
  return Array.isArray(value) ? value : [];
}
