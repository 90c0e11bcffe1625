import { ABOUT, COMMAND_DETAILS, EXAMPLES, FLAG_DETAILS } from "./flag-details.ts";
import {
  COMMANDS,
  type CommandName,
  FLAGS,
  type FlagName,
  GROUPS,
  longName,
  TOPICS,
  type TopicName,
} from "./flags.ts";
import { TOPIC_TEXTS } from "./help-topics.ts";
import { VERSION } from "./version.ts";

/** The manual page in man(7) macros, made from the table of flags. */
export function manPage(): string {
  const names = Object.keys(COMMANDS) as CommandName[];
  const topics = Object.keys(TOPICS) as TopicName[];
  const grouped = GROUPS.flatMap((group) => names.filter((each) => COMMANDS[each].group === group));
  const lines = [
    `.TH FARADAY 1 "" "faraday ${VERSION}" "User Commands"`,
    ".SH NAME",
    "faraday \\- a kernel\\-enforced sandbox for AI agents",
    ".SH SYNOPSIS",
    ...grouped.flatMap((name) => [`.B ${roff(COMMANDS[name].usage)}`, ".br"]).slice(0, -1),
    ".SH DESCRIPTION",
    roff(ABOUT),
    ".SH COMMANDS",
    ...grouped.flatMap(commandLines),
    ...topics.flatMap((topic) => [
      `.SH ${roff(topic.replaceAll("-", " ").toUpperCase())}`,
      ".nf",
      ...TOPIC_TEXTS[topic].trimEnd().split("\n").map(roff),
      ".fi",
    ]),
    ".SH EXAMPLES",
    ...grouped.flatMap((name) =>
      EXAMPLES[name].flatMap((line) => [".PP", ".nf", ".RS", roff(line), ".RE", ".fi"]),
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function commandLines(name: CommandName): string[] {
  const { usage, flags } = COMMANDS[name];
  return [
    `.SS ${roff(name)}`,
    `.B ${roff(usage)}`,
    ".PP",
    roff(COMMAND_DETAILS[name]),
    ...flags.filter((flag) => flag !== "help" && flag !== "version").flatMap(flagLines),
  ];
}

function flagLines(flag: FlagName): string[] {
  const { short, value, summary } = FLAGS[flag];
  const argument = value === null ? "" : ` \\fI${roff(value)}\\fR`;
  const head = short === null ? "" : `\\fB\\-${short}\\fR, `;
  const details = FLAG_DETAILS[flag];
  const text = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  return [
    ".TP",
    `${head}\\fB\\-\\-${roff(longName(flag))}\\fR${argument}`,
    roff(details === null ? text : `${text} ${details}`),
  ];
}

/** Text that roff takes for text: no escapes, no requests at the start of a line. */
function roff(text: string): string {
  const escaped = text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("~", "\\(ti")
    .replaceAll("^", "\\(ha")
    .replaceAll("`", "\\(ga")
    .replaceAll("'", "\\(aq");
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
