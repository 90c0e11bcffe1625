import { err, ok, type Result } from "../policy/result.ts";
import type { LogInvocation, UsageError } from "./invocation.ts";
import { colorChoice } from "./policy-choice.ts";
import type { ScannedWords } from "./scan-flags.ts";

const wrong = (message: string, hint: string | null): { ok: false; error: UsageError } =>
  err({ message, hint, correction: null, command: "log" });

export function parseLog(scanned: ScannedWords): Result<LogInvocation, UsageError> {
  const { values, operands } = scanned;
  const [path] = operands;
  if (path === undefined || path === "") {
    return wrong("no log to show", "name the file that `faraday run --audit FILE` wrote, or `-`");
  }
  if (operands.length > 1) {
    const hint = "several can be put together: `cat a.jsonl b.jsonl | faraday log -`";
    return wrong(`\`faraday log\` takes one file, not ${operands.length}`, hint);
  }
  const forms = (["tree", "summary", "json"] as const).filter((form) => values.has(form));
  if (forms.includes("tree") && forms.length > 1) {
    return wrong(`\`--tree\` and \`--${forms[1]}\` are two forms`, "choose one of them");
  }
  if (values.has("follow") && (forms.includes("tree") || forms.includes("summary"))) {
    const hint = "leave out --follow; both show a log as a whole";
    return wrong(`\`--follow\` never comes to the end that \`--${forms[0]}\` needs`, hint);
  }
  return ok({
    command: "log",
    path,
    denied: values.has("denied"),
    events: values.get("event") ?? [],
    rules: values.get("rule") ?? [],
    sessions: values.get("session") ?? [],
    follow: values.has("follow"),
    tree: values.has("tree"),
    summary: values.has("summary"),
    json: values.has("json"),
    color: colorChoice(scanned),
  });
}
