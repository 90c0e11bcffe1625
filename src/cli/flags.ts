// long: it is one table, and one place to look.
/**
 * The one table of the command line. The parser reads it, and `-h`, `--help`, the man page and
 * the completions are made from it. It is loaded on the way to every `run`, so it holds a line a
 * flag; the paragraphs are in `flag-details.ts`, which only help loads.
 */

import { POLICY_NAMES, PROFILE_NAMES } from "./profile-names.ts";

export const CATEGORIES = [
  "Policy",
  "Question",
  "Filter",
  "Files",
  "Network",
  "Processes",
  "Output",
  "Other",
] as const;
export type Category = (typeof CATEGORIES)[number];

export interface FlagSpec {
  /** How it is written, where that is not its name in this table. */
  readonly long?: string;
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
  profile: {
    short: null,
    value: "NAME",
    choices: PROFILE_NAMES,
    repeat: "once",
    category: "Policy",
    summary: "an embedded policy by its name; `faraday profiles` lists them",
  },
  path: {
    short: null,
    value: "PATH",
    repeat: "once",
    category: "Question",
    summary: "ask about a file instead of a command",
  },
  // In `run` these two take a glob; here they say what is to be done with the file.
  "wants-read": {
    long: "read",
    short: null,
    value: null,
    repeat: "last",
    category: "Question",
    summary: "with --path, ask whether it may be read (the default)",
  },
  "wants-write": {
    long: "write",
    short: null,
    value: null,
    repeat: "last",
    category: "Question",
    summary: "with --path, ask whether it may be written",
  },
  host: {
    short: null,
    value: "HOST",
    repeat: "once",
    category: "Question",
    summary: "ask about a connection to HOST or HOST:PORT",
  },
  url: {
    short: null,
    value: "URL",
    repeat: "once",
    category: "Question",
    summary: "ask about a request to URL",
  },
  cwd: {
    short: null,
    value: "DIRECTORY",
    repeat: "once",
    category: "Question",
    summary: "the working directory of the command (default: this one)",
  },
  parent: {
    short: null,
    value: "COMMAND",
    repeat: "once",
    category: "Question",
    summary: "what starts the command, as in '/usr/bin/make all'",
  },
  uid: {
    short: null,
    value: "N",
    repeat: "once",
    category: "Question",
    summary: "the user id of the command (default: yours)",
  },
  denied: {
    short: null,
    value: null,
    repeat: "last",
    category: "Filter",
    summary: "only what was denied",
  },
  event: {
    short: null,
    value: "NAME",
    choices: ["start", "exec", "exec-mismatch", "file", "net", "net-end", "end"],
    repeat: "list",
    category: "Filter",
    summary: "only records of this event: start, exec, file, net, ... (repeatable)",
  },
  rule: {
    short: null,
    value: "ID",
    repeat: "list",
    category: "Filter",
    summary: "only verdicts of this rule (repeatable)",
  },
  session: {
    short: null,
    value: "ID",
    repeat: "list",
    category: "Filter",
    summary: "only this run; the beginning of its id is enough (repeatable)",
  },
  follow: {
    short: "f",
    value: null,
    repeat: "last",
    category: "Output",
    summary: "go on with what is still being written, as `tail -f` does",
  },
  tree: {
    short: null,
    value: null,
    repeat: "last",
    category: "Output",
    summary: "show who started whom",
  },
  summary: {
    short: null,
    value: null,
    repeat: "last",
    category: "Output",
    summary: "only the sums by rule",
  },
  force: {
    short: null,
    value: null,
    repeat: "last",
    category: "Other",
    summary: "replace a faraday.toml that is there",
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
    summary: "tell what file accesses the seal refuses, and the grants (slow)",
  },
  "block-net": {
    short: null,
    value: null,
    repeat: "last",
    category: "Network",
    summary: "no network at all",
  },
  "allow-domain": {
    short: null,
    value: "HOST",
    repeat: "list",
    category: "Network",
    summary: "let requests through to HOST, or *.HOST (repeatable)",
  },
  "deny-domain": {
    short: null,
    value: "HOST",
    repeat: "list",
    category: "Network",
    summary: "refuse HOST or *.HOST, whatever allows it (repeatable)",
  },
  "allow-endpoint": {
    short: null,
    value: "ENDPOINT",
    repeat: "list",
    category: "Network",
    summary: "let only SVC:METHOD:PATH through the route SVC (repeatable)",
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

export const GROUPS = ["Run", "Policies", "Looking closer", "This machine", "Shell"] as const;
export type Group = (typeof GROUPS)[number];

export interface CommandSpec {
  readonly group: Group;
  readonly usage: string;
  readonly summary: string;
  /**
   * What stands behind the flags. `command`: a command line of its own, in which nothing is looked
   * at. A list: one of these words.
   */
  readonly operands: "command" | "file" | "none" | readonly string[];
  readonly flags: readonly FlagName[];
}

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

const topics = {
  "exit-codes": "what faraday's exit codes mean",
  environment: "the environment variables that faraday reads",
  policy: "a policy file in one page",
} as const;

const commands = {
  run: {
    group: "Run",
    usage: "faraday run [FLAGS] [--] COMMAND [ARGS...]",
    summary: "run a command, and all that it starts, under a policy",
    operands: "command",
    flags: [
      "policy",
      "profile",
      "read",
      "write",
      "allow",
      "explain-denials",
      "block-net",
      "allow-domain",
      "deny-domain",
      "allow-endpoint",
      "wait-all",
      "keep-fd",
      "audit",
      "color",
      "help",
      "version",
    ],
  },
  init: {
    group: "Policies",
    usage: "faraday init [FLAGS]",
    summary: "write a faraday.toml for the project in this directory",
    operands: "none",
    flags: ["profile", "force", "color", "help", "version"],
  },
  check: {
    group: "Policies",
    usage: "faraday check [FLAGS] [PATH]",
    summary: "check a policy and its [[test]] examples; start nothing",
    operands: "file",
    flags: ["policy", "profile", "json", "color", "help", "version"],
  },
  profiles: {
    group: "Policies",
    usage: "faraday profiles [FLAGS] [NAME]",
    summary: "list the embedded policies, or print one",
    operands: POLICY_NAMES,
    flags: ["json", "color", "help", "version"],
  },
  schema: {
    group: "Policies",
    usage: "faraday schema",
    summary: "print the JSON Schema of policies, for editors",
    operands: "none",
    flags: ["help", "version"],
  },
  explain: {
    group: "Looking closer",
    usage: "faraday explain [FLAGS] [--] COMMAND [ARGS...]",
    summary: "say how a policy judges a command, a file or a host, and why",
    operands: "command",
    flags: [
      "policy",
      "profile",
      "path",
      "wants-read",
      "wants-write",
      "host",
      "url",
      "cwd",
      "parent",
      "uid",
      "json",
      "color",
      "help",
      "version",
    ],
  },
  log: {
    group: "Looking closer",
    usage: "faraday log [FLAGS] FILE",
    summary: "show an audit log, filtered, as a tree, or while it is written",
    operands: "file",
    flags: [
      "denied",
      "event",
      "rule",
      "session",
      "follow",
      "tree",
      "summary",
      "json",
      "color",
      "help",
      "version",
    ],
  },
  doctor: {
    group: "This machine",
    usage: "faraday doctor [FLAGS]",
    summary: "say what can be enforced on this machine, and what a gap costs",
    operands: "none",
    flags: ["json", "color", "help", "version"],
  },
  selftest: {
    group: "This machine",
    usage: "faraday selftest [FLAGS]",
    summary: "try harmless escapes on this machine, and say what was held",
    operands: "none",
    flags: ["json", "color", "help", "version"],
  },
  completions: {
    group: "Shell",
    usage: "faraday completions bash|zsh|fish",
    summary: "print completions for a shell",
    operands: SHELLS,
    flags: ["help", "version"],
  },
  man: {
    group: "Shell",
    usage: "faraday man",
    summary: "print the manual page, for man(1)",
    operands: "none",
    flags: ["help", "version"],
  },
  help: {
    group: "Shell",
    usage: "faraday help [COMMAND | TOPIC]",
    summary: "explain a command or a topic",
    operands: Object.keys(topics),
    flags: ["help", "version"],
  },
} as const satisfies Record<string, CommandSpec>;

export type CommandName = keyof typeof commands;
export const COMMANDS: Readonly<Record<CommandName, CommandSpec>> = commands;

export type TopicName = keyof typeof topics;
export const TOPICS: Readonly<Record<TopicName, string>> = topics;

export function isCommand(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

export function isTopic(word: string): word is TopicName {
  return Object.hasOwn(TOPICS, word);
}

/** How a flag is written behind `--`. */
export function longName(flag: FlagName): string {
  return FLAGS[flag].long ?? flag;
}
