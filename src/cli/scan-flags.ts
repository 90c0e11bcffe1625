import { closestName } from "../policy/closest-name.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { COMMANDS, type CommandName, FLAGS, type FlagName, longName } from "./flags.ts";
import type { UsageError } from "./invocation.ts";

/** The words behind a command, told apart but not yet given a meaning. */
export interface ScannedWords {
  readonly values: ReadonlyMap<FlagName, readonly string[]>;
  readonly operands: readonly string[];
  /** Set by the first `-h` or `--help`; nothing behind it is looked at. */
  readonly help: "short" | "full" | null;
  readonly version: boolean;
}

interface FlagWord {
  readonly name: FlagName;
  /** The word as the user spelled it, without a value. */
  readonly spelling: string;
  /** The value inside the same word, as in `--policy=p.toml` or `-pp.toml`. */
  readonly attached: string | null;
}

/**
 * Tells flags from operands in `line`, all words behind `faraday`, beginning at `start`. The
 * operands of `run` and `explain` are a command line of their own: they begin at the first word
 * that is not a flag, or behind `--`, and nothing in them is looked at.
 */
export function scanFlags(
  command: CommandName,
  line: readonly string[],
  start: number,
): Result<ScannedWords, UsageError> {
  const values = new Map<FlagName, string[]>();
  const operands: string[] = [];
  for (let index = start; index < line.length; index++) {
    const word = line[index] ?? "";
    if (word === "--") {
      operands.push(...line.slice(index + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      if (COMMANDS[command].operands === "command") {
        operands.push(...line.slice(index));
        break;
      }
      operands.push(word);
      continue;
    }
    const flag = readFlagWord(command, line, index);
    if (!flag.ok) return flag;
    const { name, spelling } = flag.value;
    if (name === "help") {
      return ok({ values, operands, help: spelling === "-h" ? "short" : "full", version: false });
    }
    if (name === "version") return ok({ values, operands, help: null, version: true });
    const value = readValue(command, line, index, flag.value);
    if (!value.ok) return value;
    if (FLAGS[name].value !== null && flag.value.attached === null) index++;
    const earlier = values.get(name);
    if (earlier === undefined) values.set(name, [value.value]);
    else if (FLAGS[name].repeat === "once") return err(givenTwice(command, name));
    else earlier.push(value.value);
  }
  return ok({ values, operands, help: null, version: false });
}

/** The line with some words exchanged, as the user would type it. */
export function correctedLine(
  line: readonly string[],
  index: number,
  replaced: number,
  replacement: readonly string[],
): readonly string[] {
  return ["faraday", ...line.slice(0, index), ...replacement, ...line.slice(index + replaced)];
}

function readFlagWord(
  command: CommandName,
  line: readonly string[],
  index: number,
): Result<FlagWord, UsageError> {
  const word = line[index] ?? "";
  const long = word.startsWith("--");
  const equals = word.indexOf("=");
  const bare = word.slice(long ? 2 : 1, equals === -1 ? undefined : equals);
  const value = equals === -1 ? null : word.slice(equals + 1);
  const accepted = COMMANDS[command].flags;
  if (long) {
    const name = accepted.find((candidate) => longName(candidate) === bare);
    if (name !== undefined) return ok({ name, spelling: `--${bare}`, attached: value });
    return err(unknownFlag(command, line, index, bare, value));
  }
  // `-policy x` would otherwise be read as `-p` with the value "olicy".
  if (accepted.some((candidate) => longName(candidate) === bare)) {
    return err(unknownFlag(command, line, index, bare, value));
  }
  const name = accepted.find((candidate) => FLAGS[candidate].short === word[1]);
  const rest = word.slice(2);
  if (name === undefined || (FLAGS[name].value === null && rest !== "")) {
    return err(unknownFlag(command, line, index, bare, value));
  }
  const attached = rest === "" ? null : rest.startsWith("=") ? rest.slice(1) : rest;
  return ok({ name, spelling: `-${word[1]}`, attached });
}

function readValue(
  command: CommandName,
  line: readonly string[],
  index: number,
  flag: FlagWord,
): Result<string, UsageError> {
  const { name, spelling, attached } = flag;
  const spec = FLAGS[name];
  if (spec.value === null) {
    if (attached === null) return ok("");
    const correction = correctedLine(line, index, 1, [spelling]);
    return err({ message: `\`${spelling}\` takes no value`, hint: null, correction, command });
  }
  const value = attached ?? line[index + 1];
  const needs = `\`${spelling}\` needs a value: \`${spelling} ${spec.value}\``;
  if (value === undefined || value === "") {
    return err({ message: needs, hint: null, correction: null, command });
  }
  if (attached === null && value.startsWith("-") && value !== "-") {
    // Most likely a forgotten value; a value that does begin with a dash can be attached.
    const meant = value === "--" ? null : `if \`${value}\` is the value, attach it with \`=\``;
    return err({ message: needs, hint: meant, correction: null, command });
  }
  if (spec.choices !== undefined && !spec.choices.includes(value)) {
    const near = closestName(value, spec.choices);
    return err({
      message: `\`${spelling}\` is one of ${spec.choices.join(", ")}, not \`${value}\``,
      hint: near === null ? null : `did you mean \`${near}\`?`,
      correction:
        near === null
          ? null
          : correctedLine(line, index, attached === null ? 2 : 1, [`--${longName(name)}=${near}`]),
      command,
    });
  }
  return ok(value);
}

function unknownFlag(
  command: CommandName,
  line: readonly string[],
  index: number,
  bare: string,
  value: string | null,
): UsageError {
  const word = line[index] ?? "";
  const shown = value === null ? word : word.slice(0, word.indexOf("="));
  const message = `\`faraday ${command}\` has no flag \`${shown}\``;
  const near = closestName(bare, COMMANDS[command].flags.map(longName));
  if (near !== null && bare.length > 1) {
    const replacement = value === null ? `--${near}` : `--${near}=${value}`;
    const correction = correctedLine(line, index, 1, [replacement]);
    return { message, hint: `did you mean \`--${near}\`?`, correction, command };
  }
  const hint =
    COMMANDS[command].operands === "command"
      ? "flags of the command itself come behind its name, or behind `--`"
      : `its flags are ${COMMANDS[command].flags.map((flag) => `--${longName(flag)}`).join(", ")}`;
  return { message, hint, correction: null, command };
}

function givenTwice(command: CommandName, name: FlagName): UsageError {
  return {
    message: `\`--${longName(name)}\` is given twice`,
    hint: "give it once; which of the two was meant cannot be told",
    correction: null,
    command,
  };
}
