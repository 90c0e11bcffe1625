import { ABOUT, COMMAND_DETAILS, EXAMPLES, FLAG_DETAILS } from "./flag-details.ts";
import {
  CATEGORIES,
  COMMANDS,
  type CommandName,
  FLAGS,
  type FlagName,
  GROUPS,
  isCommand,
  longName,
  TOPICS,
} from "./flags.ts";
import { TOPIC_TEXTS } from "./help-topics.ts";
import type { HelpInvocation } from "./invocation.ts";
import type { TerminalIo } from "./terminal-io.ts";

const LINE_CHARACTERS_MAX = 80;

/** Help that was asked for goes to stdout; returns the exit code. */
export function printHelp(invocation: HelpInvocation, io: TerminalIo): number {
  io.stdout.write(helpText(invocation));
  return 0;
}

export function helpText({ topic, form }: Omit<HelpInvocation, "command">): string {
  if (topic === null) return form === "short" ? frontShort() : frontFull();
  if (!isCommand(topic)) return TOPIC_TEXTS[topic];
  return form === "short" ? commandShort(topic) : commandFull(topic);
}

function frontShort(): string {
  const all = Object.entries(COMMANDS);
  const width = Math.max(...all.map(([name]) => name.length));
  const groups = GROUPS.map((group) => {
    const own = all.filter(([, command]) => command.group === group);
    const rows = own.map(([name, { summary }]) => [name.padEnd(width), summary] as const);
    return `${group}:\n${columns(rows)}`;
  });
  return `${frontHead()}\n${groups.join("\n")}\nFlags:\n${columns(flagLines(["help", "version"]))}`;
}

function frontFull(): string {
  const topics = Object.entries(TOPICS);
  const [front, ...rest] = frontShort().split("\n\n");
  return [
    `${front}\n\n${wrap(ABOUT, "")}\n\n${rest.join("\n\n")}`,
    `Topics, for \`faraday help TOPIC\`:\n${columns(topics)}`,
    example("front"),
  ].join("\n");
}

function frontHead(): string {
  return [
    "faraday: a kernel-enforced sandbox for AI agents",
    "",
    "Usage:",
    "  faraday run [--policy PATH] -- COMMAND [ARGS...]",
    "  faraday COMMAND --help",
    "  faraday help [COMMAND | TOPIC]",
    "",
  ].join("\n");
}

function commandShort(command: CommandName): string {
  const { usage, summary, flags } = COMMANDS[command];
  return `${summary}\n\nUsage: ${usage}\n\n${columns(flagLines(flags))}`;
}

function commandFull(command: CommandName): string {
  const { usage, summary, flags } = COMMANDS[command];
  const head = `${summary}\n\nUsage: ${usage}\n\n${wrap(COMMAND_DETAILS[command], "")}\n`;
  const sections = CATEGORIES.map((category) => {
    const inside = flags.filter((flag) => FLAGS[flag].category === category);
    if (inside.length === 0) return null;
    const entries = inside.map((flag) => {
      const details = FLAG_DETAILS[flag];
      const text = `${capitalized(FLAGS[flag].summary)}${details === null ? "" : ` ${details}`}`;
      return `  ${spelling(flag).trimStart()}\n${wrap(text, "      ")}\n`;
    });
    return `${category}:\n${entries.join("\n")}`;
  });
  return [head, ...sections.filter((section) => section !== null), example(command)].join("\n");
}

function example(subject: CommandName | "front"): string {
  return `Example:\n${EXAMPLES[subject].map((line) => `  ${line}\n`).join("")}`;
}

function flagLines(flags: readonly FlagName[]): (readonly [string, string])[] {
  return flags.map((flag) => [spelling(flag), FLAGS[flag].summary] as const);
}

/** `-p, --policy PATH`, with the long names in one column whether there is a short one or not. */
function spelling(flag: FlagName): string {
  const { short, value } = FLAGS[flag];
  const head = short === null ? "    " : `-${short}, `;
  return `${head}--${longName(flag)}${value === null ? "" : ` ${value}`}`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join("");
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function wrap(text: string, indent: string): string {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(" ")) {
    const longer = line === indent ? indent + word : `${line} ${word}`;
    if (longer.length > LINE_CHARACTERS_MAX && line !== indent) {
      lines.push(line);
      line = indent + word;
    } else {
      line = longer;
    }
  }
  return [...lines, line].join("\n");
}
