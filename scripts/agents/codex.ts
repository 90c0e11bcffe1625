import { type Client, type Dialect, eventStream, KEY, listIn, TASK, textOf } from "./client.ts";

/** OpenAI's Responses API, streamed. */
const dialect: Dialect = {
  wantsTurn: (request, body) =>
    new URL(request.url).pathname.endsWith("/responses") && listIn(body, "tools").length > 0,
  answersIn: (body) =>
    listIn(body, "input")
      .filter((item) => item.type === "function_call_output")
      .map((item) => textOf(item.output)),
  reply(turn) {
    const item =
      turn.kind === "call"
        ? {
            type: "function_call",
            id: `fc_${turn.id}`,
            call_id: turn.id,
            name: turn.call.name,
            arguments: JSON.stringify(turn.call.input),
          }
        : {
            type: "message",
            id: "msg_trial",
            role: "assistant",
            content: [{ type: "output_text", text: turn.text, annotations: [] }],
          };
    const id = "resp_trial";
    const usage = {
      input_tokens: 1,
      input_tokens_details: null,
      output_tokens: 1,
      output_tokens_details: null,
      total_tokens: 2,
    };
    return eventStream([
      { type: "response.created", response: { id } },
      { type: "response.output_item.added", output_index: 0, item },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id, usage, output: [item] } },
    ]);
  },
  keyOf: ({ headers }) => headers.get("authorization")?.replace(/^Bearer /, "") ?? null,
};

const patch = (...lines: readonly string[]) =>
  ["apply_patch <<'PATCH'", "*** Begin Patch", ...lines, "*** End Patch", "PATCH"].join("\n");

const shell = (cmd: string) => ({ name: "exec_command", input: { cmd, yield_time_ms: 30_000 } });

export const codex: Client = {
  name: "codex",
  packageName: "@openai/codex",
  version: "0.169.0",
  profile: "builtin:codex",
  // It reads the address from a file, and that of a route is known only once the proxy runs.
  route: null,
  program: ".bin/codex",
  dialect,
  toolFor(wish) {
    switch (wish.kind) {
      case "shell":
        return shell(wish.command);
      case "read":
        // Codex reads with shell commands alone, which are errands already.
        return null;
      case "write":
        return shell(patch(`*** Add File: ${wish.path}`, `+${wish.content.trimEnd()}`));
      case "edit":
        return shell(
          patch(`*** Update File: ${wish.path}`, "@@", `-${wish.before}`, `+${wish.after}`),
        );
      default:
        return wish satisfies never;
    }
  },
  start: (program, modelUrl) => ({
    // Its own sandbox is off: it cannot be set up inside of Faraday's, which takes its place.
    command: [program, "exec", "--dangerously-bypass-approvals-and-sandbox", TASK],
    env: { TRIAL_KEY: KEY },
    files: {
      ".codex/config.toml": `model = "gpt-5"
model_provider = "trial"
check_for_update_on_startup = false
[model_providers.trial]
name = "trial"
base_url = "${modelUrl}/v1"
wire_api = "responses"
env_key = "TRIAL_KEY"
`,
    },
  }),
};
