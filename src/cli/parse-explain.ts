import { err, ok, type Result } from "../policy/result.ts";
import type { FlagName } from "./flags.ts";
import type { ExplainInvocation, ExplainQuestion, UsageError } from "./invocation.ts";
import { colorChoice, policyChoice } from "./policy-choice.ts";
import type { ScannedWords } from "./scan-flags.ts";

const UID_MAX = 0xffff_fffe;
/** These describe who starts a command, and mean nothing to a file or a host. */
const EXEC_FACETS: readonly FlagName[] = ["parent", "uid"];

const wrong = (message: string, hint: string | null = null): { ok: false; error: UsageError } =>
  err({ message, hint, correction: null, command: "explain" });

export function parseExplain(scanned: ScannedWords): Result<ExplainInvocation, UsageError> {
  const { values } = scanned;
  const policy = policyChoice(scanned, "explain");
  if (!policy.ok) return policy;
  const question = readQuestion(scanned);
  if (!question.ok) return question;
  const uid = values.get("uid")?.[0];
  if (uid !== undefined && !(/^[0-9]{1,10}$/.test(uid) && Number(uid) <= UID_MAX)) {
    return wrong(`\`--uid\` takes the number of a user, not \`${uid}\``);
  }
  const facet = EXEC_FACETS.find((name) => values.has(name));
  if (facet !== undefined && question.value.kind !== "exec") {
    return wrong(`\`--${facet}\` goes with a command only`);
  }
  return ok({
    command: "explain",
    policy: policy.value,
    question: question.value,
    cwd: values.get("cwd")?.[0] ?? null,
    parent: values.get("parent")?.[0] ?? null,
    uid: uid === undefined ? null : Number(uid),
    json: values.has("json"),
    color: colorChoice(scanned),
  });
}

function readQuestion({ values, operands }: ScannedWords): Result<ExplainQuestion, UsageError> {
  const path = values.get("path")?.[0];
  const host = values.get("host")?.[0];
  const url = values.get("url")?.[0];
  const asked = [path, host, url].filter((value) => value !== undefined).length;
  const reads = values.has("wants-read");
  const writes = values.has("wants-write");
  if (path === undefined && (reads || writes)) {
    const flag = reads ? "--read" : "--write";
    return wrong(`\`${flag}\` goes with \`--path PATH\``, `write \`--path PATH ${flag}\``);
  }
  if (reads && writes) {
    return wrong("`--read` and `--write` are two questions", "ask them one after the other");
  }
  if (asked + (operands.length > 0 ? 1 : 0) > 1) {
    return wrong(
      "one question at a time: a command, `--path`, `--host` or `--url`",
      "ask them one after the other",
    );
  }
  if (path !== undefined) return ok({ kind: "path", path, access: writes ? "write" : "read" });
  if (host !== undefined) return ok({ kind: "host", host });
  if (url !== undefined) return ok({ kind: "url", url });
  if (operands.length > 0) return ok({ kind: "exec", argv: operands });
  return wrong("nothing to explain", "name a command behind `--`, or give `--path PATH`");
}
