import { type Client, type Dialect, eventStream, KEY, listIn, TASK, textOf } from "./client.ts";

const usage = { input_tokens: 1, output_tokens: 1 };

/** Anthropic's Messages API, streamed. */
const dialect: Dialect = {
  wantsTurn: (request, body) =>
    new URL(request.url).pathname.endsWith("/v1/messages") && listIn(body, "tools").length > 0,
  answersIn: (body) =>
    listIn(body, "messages")
      .flatMap((message) => listIn(message, "content"))
      .filter((block) => block.type === "tool_result")
      .map((block) => textOf(block.content)),
  reply(turn, _request, body) {
    const block =
      turn.kind === "call"
        ? { type: "tool_use", id: turn.id, name: turn.call.name, input: turn.call.input }
        : { type: "text", text: turn.text };
    const stop_reason = turn.kind === "call" ? "tool_use" : "end_turn";
    const message = {
      id: "msg_trial",
      type: "message",
      role: "assistant",
      model: body.model,
      usage,
    };
    if (body.stream !== true) {
      return Response.json({ ...message, content: [block], stop_reason, stop_sequence: null });
    }
    const index = 0;
    const delta =
      turn.kind === "call"
        ? { type: "input_json_delta", partial_json: JSON.stringify(turn.call.input) }
        : { type: "text_delta", text: turn.text };
    const empty = turn.kind === "call" ? { ...block, input: {} } : { ...block, text: "" };
    return eventStream([
      { type: "message_start", message: { ...message, content: [], stop_reason: null } },
      { type: "content_block_start", index, content_block: empty },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
      { type: "message_stop" },
    ]);
  },
  keyOf: ({ headers }) => headers.get("x-api-key"),
};

export const claude: Client = {
  name: "claude",
  packageName: "@anthropic-ai/claude-code",
  version: "2.1.327",
  profile: "builtin:claude-code",
  route: {
    urlVariable: "ANTHROPIC_BASE_URL",
    keyVariable: "ANTHROPIC_API_KEY",
    header: "x-api-key",
    handsOnKey: true,
  },
  program: ".bin/claude",
  dialect,
  toolFor(wish) {
    switch (wish.kind) {
      case "shell":
        return { name: "Bash", input: { command: wish.command, description: "an errand" } };
      case "read":
        return { name: "Read", input: { file_path: wish.path } };
      case "write":
        return { name: "Write", input: { file_path: wish.path, content: wish.content } };
      case "edit":
        return {
          name: "Edit",
          input: { file_path: wish.path, old_string: wish.before, new_string: wish.after },
        };
      default:
        return wish satisfies never;
    }
  },
  start: (program, modelUrl) => ({
    command: [program, "--dangerously-skip-permissions", "-p", TASK],
    env: {
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // Without it Claude Code refuses to skip its questions as root.
      IS_SANDBOX: "1",
    },
    // It replaces this file by renaming another into place, and writes it where it may not.
    files: { ".claude.json": "{}\n" },
  }),
};
