/**
 * The one table of the command line. The parser reads it, and `-h`, `--help`, the man page and
 * the completions are made from it. It is loaded on the way to every `run`, so it holds a line a
 * flag; the paragraphs are in `flag-details.ts`, which only help loads.
 */

export const CATEGORIES = ["Policy", "Files", "Processes", "Output", "Other"] as const;
export type Category = (typeof CATEGORIES)[number];

export interface FlagSpec {
  readonly short: string | null;
  /** The placeholder of the value in help texts; null for a switch. */
  readonly value: string | null;
  /** The only values that are accepted, where they can be listed. */
  readonly choices?: readonly string[];
  /**
   * `once`: a second one is a usage error, because nobody can tell which was meant.
   * `last`: the last one holds. `list`: each adds to the list.
   */
  readonly repeat: "once" | "last" | "list";
  readonly category: Category;
  readonly summary: string;
}

const flags = {
  policy: {
    short: "p",
    value: "PATH",
    repeat: "once",
    category: "Policy",
    summary: "the policy file, or builtin:NAME (default: builtin:default)",
  },
  audit: {
    short: null,
    value: "PATH",
    repeat: "once",
    category: "Output",
    summary: "append one JSON line for every verdict to this file",
  },
  read: {
    short: "r",
    value: "GLOB",
    repeat: "list",
    category: "Files",
    summary: "grant reading below GLOB (repeatable)",
  },
  write: {
    short: "w",
    value: "GLOB",
    repeat: "list",
    category: "Files",
    summary: "grant writing below GLOB (repeatable)",
  },
  allow: {
    short: "a",
    value: "GLOB",
    repeat: "list",
    category: "Files",
    summary: "grant reading and writing below GLOB (repeatable)",
  },
  "explain-denials": {
    short: null,
    value: null,
    repeat: "last",
    category: "Files",
    summary: "tell which file accesses the seal refuses, and what would grant them (slow)",
  },
  "wait-all": {
    short: null,
    value: null,
    repeat: "last",
    category: "Processes",
    summary: "wait for what the command leaves running instead of ending it",
  },
  "keep-fd": {
    short: null,
    value: "N",
    repeat: "list",
    category: "Processes",
    summary: "leave file descriptor N open for the command (repeatable)",
  },
  json: {
    short: null,
    value: null,
    repeat: "last",
    category: "Output",
    summary: "report as one JSON object on stdout",
  },
  color: {
    short: null,
    value: "WHEN",
    choices: ["auto", "always", "never"],
    repeat: "last",
    category: "Output",
    summary: "colour in messages: auto, always or never (default: auto)",
  },
  help: {
    short: "h",
    value: null,
    repeat: "last",
    category: "Other",
    summary: "show help; -h a line a flag, --help everything",
  },
  version: {
    short: "V",
    value: null,
    repeat: "last",
    category: "Other",
    summary: "print the version",
  },
} as const satisfies Record<string, FlagSpec>;

export type FlagName = keyof typeof flags;
export const FLAGS: Readonly<Record<FlagName, FlagSpec>> = flags;

export interface CommandSpec {
  readonly usage: string;
  readonly summary: string;
  readonly flags: readonly FlagName[];
}

const commands = {
  run: {
    usage: "faraday run [FLAGS] [--] COMMAND [ARGS...]",
    summary: "run a command, and all that it starts, under a policy",
    flags: [
      "policy",
      "read",
      "write",
      "allow",
      "explain-denials",
      "wait-all",
      "keep-fd",
      "audit",
      "color",
      "help",
      "version",
    ],
  },
  check: {
    usage: "faraday check [FLAGS] [PATH]",
    summary: "check a policy and its [[test]] examples; start nothing",
    flags: ["policy", "json", "color", "help", "version"],
  },
  doctor: {
    usage: "faraday doctor [FLAGS]",
    summary: "say what can be enforced on this machine, and what a gap costs",
    flags: ["json", "color", "help", "version"],
  },
  help: {
    usage: "faraday help [COMMAND | TOPIC]",
    summary: "explain a command or a topic",
    flags: ["help", "version"],
  },
} as const satisfies Record<string, CommandSpec>;

export type CommandName = keyof typeof commands;
export const COMMANDS: Readonly<Record<CommandName, CommandSpec>> = commands;

const topics = {
  "exit-codes": "what faraday's exit codes mean",
  environment: "the environment variables that faraday reads",
  policy: "a policy file in one page",
} as const;

export type TopicName = keyof typeof topics;
export const TOPICS: Readonly<Record<TopicName, string>> = topics;

export function isCommand(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

export function isTopic(word: string): word is TopicName {
  return Object.hasOwn(TOPICS, word);
}
