import { closestName } from "../policy/closest-name.ts";
import { err, ok, type Result, unreachable } from "../policy/result.ts";
import { COMMANDS, FLAGS, type FlagName, isCommand, isTopic, longName, TOPICS } from "./flags.ts";
import type {
  CheckInvocation,
  HelpInvocation,
  Invocation,
  RunInvocation,
  UsageError,
} from "./invocation.ts";
import { parseExplain } from "./parse-explain.ts";
import { parseLog } from "./parse-log.ts";
import {
  parseCompletions,
  parseInit,
  parsePrint,
  parseProfiles,
  parseTrial,
} from "./parse-plain.ts";
import { colorChoice, policyChoice } from "./policy-choice.ts";
import { correctedLine, type ScannedWords, scanFlags } from "./scan-flags.ts";

/** The kernel's own ceiling for descriptors (`fs.nr_open`) is this by default. */
const KEEP_FD_MAX = 1_048_576;

/** Gives a meaning to the words behind `faraday`, or says what is wrong with them. */
export function parseArgv(words: readonly string[]): Result<Invocation, UsageError> {
  const first = words[0];
  if (first === undefined) {
    return err({
      message: "no command given",
      hint: "to run something under the default policy, write `faraday run -- COMMAND`",
      correction: null,
      command: null,
    });
  }
  if (first === "-h") return ok({ command: "help", topic: null, form: "short" });
  if (first === "--help") return ok({ command: "help", topic: null, form: "full" });
  if (first === "-V" || first === "--version") return ok({ command: "version" });
  if (!isCommand(first)) return err(notACommand(words, first));

  const scanned = scanFlags(first, words, 1);
  if (!scanned.ok) return scanned;
  const { help, version } = scanned.value;
  if (help !== null) return ok({ command: "help", topic: first, form: help });
  if (version) return ok({ command: "version" });
  switch (first) {
    case "run":
      return parseRun(words, scanned.value);
    case "check":
      return parseCheck(scanned.value);
    case "explain":
      return parseExplain(scanned.value);
    case "log":
      return parseLog(scanned.value);
    case "profiles":
      return parseProfiles(words, scanned.value);
    case "init":
      return parseInit(words, scanned.value);
    case "doctor":
    case "selftest":
      return parseTrial(first, words, scanned.value);
    case "completions":
      return parseCompletions(words, scanned.value);
    case "man":
    case "schema":
      return parsePrint(first, words, scanned.value);
    case "help":
      return parseHelp(words, scanned.value);
    default:
      return unreachable(first);
  }
}

function parseRun(
  line: readonly string[],
  scanned: ScannedWords,
): Result<RunInvocation, UsageError> {
  const { values, operands } = scanned;
  const keepFds = parseKeepFds(values.get("keep-fd") ?? []);
  if (!keepFds.ok) return keepFds;
  if (operands.length === 0) {
    return err({
      message: "no command to run",
      hint: "name it behind `--`",
      correction: ["faraday", ...line.filter((word) => word !== "--"), "--", "COMMAND"],
      command: "run",
    });
  }
  const policy = policyChoice(scanned, "run");
  if (!policy.ok) return policy;
  const opener = (["allow-domain", "allow-endpoint"] as const).find((flag) => values.has(flag));
  if (values.has("block-net") && opener !== undefined) {
    return err({
      message: `\`--block-net\` leaves nothing for \`--${opener}\` to allow`,
      hint: `leave out one of them: with --${opener} alone everything else is refused by the proxy`,
      correction: null,
      command: "run",
    });
  }
  return ok({
    command: "run",
    policy: policy.value,
    audit: values.get("audit")?.[0] ?? null,
    read: values.get("read") ?? [],
    write: values.get("write") ?? [],
    allow: values.get("allow") ?? [],
    explainDenials: values.has("explain-denials"),
    blockNet: values.has("block-net"),
    allowDomains: values.get("allow-domain") ?? [],
    denyDomains: values.get("deny-domain") ?? [],
    allowEndpoints: values.get("allow-endpoint") ?? [],
    waitAll: values.has("wait-all"),
    keepFds: keepFds.value,
    color: colorChoice(scanned),
    argv: operands,
  });
}

function parseCheck(scanned: ScannedWords): Result<CheckInvocation, UsageError> {
  const { values, operands } = scanned;
  const named = policyChoice(scanned, "check");
  if (!named.ok) return named;
  const paths = [...(named.value === null ? [] : [named.value]), ...operands];
  if (paths.length > 1) {
    return err({
      message: `\`faraday check\` takes one policy, not ${paths.length}`,
      hint: "check them one after the other",
      correction: null,
      command: "check",
    });
  }
  if (paths[0] === "") {
    return err({
      message: "the path of the policy is empty",
      hint: "leave it out to check the embedded default",
      correction: null,
      command: "check",
    });
  }
  return ok({
    command: "check",
    policy: paths[0] ?? null,
    json: values.has("json"),
    color: colorChoice(scanned),
  });
}

function parseHelp(
  line: readonly string[],
  scanned: ScannedWords,
): Result<HelpInvocation, UsageError> {
  const [word, extra] = scanned.operands;
  if (word === undefined) return ok({ command: "help", topic: null, form: "full" });
  if (extra !== undefined) {
    return err({
      message: "`faraday help` explains one thing at a time",
      hint: null,
      correction: ["faraday", "help", word],
      command: "help",
    });
  }
  if (isCommand(word) || isTopic(word)) return ok({ command: "help", topic: word, form: "full" });
  const subjects = [...Object.keys(COMMANDS), ...Object.keys(TOPICS)];
  const near = closestName(word, subjects);
  return err({
    message: `there is no help on \`${word}\``,
    hint: near === null ? `there is help on ${subjects.join(", ")}` : `did you mean \`${near}\`?`,
    correction: near === null ? null : correctedLine(line, line.indexOf(word), 1, [near]),
    command: "help",
  });
}

function parseKeepFds(values: readonly string[]): Result<number[], UsageError> {
  const fds = new Set<number>();
  for (const value of values) {
    const fd = /^[0-9]{1,7}$/.test(value) ? Number(value) : Number.NaN;
    if (!(fd >= 3 && fd <= KEEP_FD_MAX)) {
      const standard = fd < 3;
      return err({
        message: `\`--keep-fd\` takes a descriptor number from 3 up, not \`${value}\``,
        hint: standard ? "0, 1 and 2 are always left open" : null,
        correction: null,
        command: "run",
      });
    }
    fds.add(fd);
  }
  return ok([...fds].sort((a, b) => a - b));
}

function notACommand(line: readonly string[], word: string): UsageError {
  if (word === "--") {
    return {
      message: "no command of faraday's own before `--`",
      hint: "did you mean `faraday run`?",
      correction: ["faraday", "run", ...line],
      command: null,
    };
  }
  if (word.startsWith("-")) return flagBeforeCommand(line, word);
  if (word === "version") {
    return {
      message: "the version is a flag",
      hint: null,
      correction: ["faraday", "--version"],
      command: null,
    };
  }
  const near = closestName(word, Object.keys(COMMANDS));
  if (near !== null) {
    return {
      message: `there is no command \`${word}\``,
      hint: `did you mean \`${near}\`?`,
      correction: correctedLine(line, 0, 1, [near]),
      command: null,
    };
  }
  return {
    message: `there is no command \`${word}\``,
    hint: "to run it under a policy, say so",
    correction: ["faraday", "run", "--", ...line],
    command: null,
  };
}

/** `faraday --policy p.toml run -- x`: the flag is known, but stands before its command. */
function flagBeforeCommand(line: readonly string[], word: string): UsageError {
  const own = Object.entries(FLAGS).some(
    ([flag, { short }]) =>
      word === `--${longName(flag as FlagName)}` ||
      word.startsWith(`--${longName(flag as FlagName)}=`) ||
      (short !== null && word.startsWith(`-${short}`)),
  );
  if (!own) {
    const near = word === "-v" ? "version" : closestName(word.slice(2), ["help", "version"]);
    if (near !== null) {
      const hint = `did you mean \`--${near}\`?`;
      const correction = ["faraday", `--${near}`];
      return { message: `there is no flag \`${word}\``, hint, correction, command: null };
    }
    return {
      message: `there is no flag \`${word}\` before a command`,
      hint: `begin with a command: ${Object.keys(COMMANDS).join(", ")}`,
      correction: null,
      command: null,
    };
  }
  const ends = line.indexOf("--");
  const mine = ends === -1 ? line : line.slice(0, ends);
  const at = mine.findIndex((candidate) => isCommand(candidate));
  const moved = at === -1 ? null : ["faraday", mine[at] ?? "", ...line.toSpliced(at, 1)];
  // Without a command, a `--` shows that something is to be run.
  const run = at === -1 && ends !== -1 ? ["faraday", "run", ...line] : null;
  return {
    message: `\`${word}\` stands before the command`,
    hint: "flags come behind the command they belong to",
    correction: moved ?? run,
    command: null,
  };
}
