import { closestName } from "../policy/closest-name.ts";
import { err, ok, type Result } from "../policy/result.ts";
import type { CommandName } from "./flags.ts";
import type { UsageError } from "./invocation.ts";
import { correctedLine, type ScannedWords } from "./scan-flags.ts";

/** For commands that take nothing behind their flags. */
export function noOperand(
  line: readonly string[],
  { operands }: ScannedWords,
  command: CommandName,
): Result<null, UsageError> {
  const [extra] = operands;
  if (extra === undefined) return ok(null);
  return err({
    message: `\`faraday ${command}\` takes no argument`,
    hint: null,
    correction: correctedLine(line, line.lastIndexOf(extra), 1, []),
    command,
  });
}

/** For commands that take one word out of a list, or none. */
export function oneOperand<T extends string>(
  line: readonly string[],
  { operands }: ScannedWords,
  command: CommandName,
  choices: readonly T[],
): Result<T | null, UsageError> {
  const [word, extra] = operands;
  if (word === undefined) return ok(null);
  if (extra !== undefined) {
    return err({
      message: `\`faraday ${command}\` takes one word, not ${operands.length}`,
      hint: null,
      correction: ["faraday", command, word],
      command,
    });
  }
  const choice = choices.find((each) => each === word);
  if (choice !== undefined) return ok(choice);
  const near = closestName(word, choices);
  return err({
    message: `\`faraday ${command}\` knows ${choices.join(", ")}, not \`${word}\``,
    hint: near === null ? null : `did you mean \`${near}\`?`,
    correction: near === null ? null : correctedLine(line, line.indexOf(word, 1), 1, [near]),
    command,
  });
}
