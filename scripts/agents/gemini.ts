import { type Client, type Dialect, eventStream, KEY, listIn, TASK, textOf } from "./client.ts";

/** Google's generateContent, streamed or whole. */
const dialect: Dialect = {
  wantsTurn: (request, body) =>
    new URL(request.url).pathname.includes("enerateContent") && listIn(body, "tools").length > 0,
  answersIn: (body) =>
    listIn(body, "contents")
      .flatMap((content) => listIn(content, "parts"))
      .filter((part) => part.functionResponse !== undefined)
      .map((part) => textOf(part.functionResponse)),
  reply(turn, request) {
    const part =
      turn.kind === "call"
        ? { functionCall: { name: turn.call.name, args: turn.call.input } }
        : { text: turn.text };
    const whole = {
      candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: "trial",
    };
    const streamed = new URL(request.url).pathname.endsWith(":streamGenerateContent");
    return streamed ? eventStream([whole]) : Response.json(whole);
  },
  keyOf: ({ headers }) => headers.get("x-goog-api-key"),
};

export const gemini: Client = {
  name: "gemini",
  packageName: "@google/gemini-cli",
  version: "0.61.0",
  profile: "builtin:gemini",
  route: {
    urlVariable: "GOOGLE_GEMINI_BASE_URL",
    keyVariable: "GEMINI_API_KEY",
    header: "x-goog-api-key",
    handsOnKey: false,
  },
  program: ".bin/gemini",
  dialect,
  toolFor(wish) {
    switch (wish.kind) {
      case "shell":
        return {
          name: "run_shell_command",
          input: { command: wish.command, description: "an errand" },
        };
      case "edit":
        return {
          name: "replace",
          input: {
            file_path: wish.path,
            instruction: "an errand",
            old_string: wish.before,
            new_string: wish.after,
          },
        };
      case "read":
      case "write":
        // Its own tools refuse files outside of the working directory, so they prove nothing.
        return null;
      default:
        return wish satisfies never;
    }
  },
  start: (program, modelUrl) => ({
    command: [program, "--yolo", "--model", "gemini-2.5-flash", "--prompt", TASK],
    env: {
      GEMINI_API_KEY: KEY,
      GOOGLE_GEMINI_BASE_URL: modelUrl,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    },
    files: {
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false, disableAutoUpdate: true },
      }),
    },
  }),
};
