import type { CommandName, FlagName } from "./flags.ts";

/** What `--help` says about a flag beyond its line in the table, if there is more to say. */
export const FLAG_DETAILS: Readonly<Record<FlagName, string | null>> = {
  policy:
    "The policy to judge by: a TOML file, or `builtin:NAME` for one that is part of faraday. A " +
    "policy with a mistake in it starts nothing. `faraday help policy` shows what one looks like.",
  audit:
    "Every execve becomes one JSON object on a line of its own, written before the verdict takes " +
    "effect. The file is created with mode 0600 and only ever appended to.",
  read:
    "Adds to `read_globs` of the policy's [filesystem] table. Quote the glob, so that the shell " +
    "does not expand it: --read '/etc/ssl/**'.",
  write: "Adds to `write_globs` of the policy's [filesystem] table.",
  allow: "Adds to `allow_globs` of the policy's [filesystem] table.",
  "explain-denials":
    "The kernel refuses a file access without saying why. With this flag every such call is " +
    "looked at on its way: what the grants do not cover is written to the audit log (`event` is " +
    "`file`) and summed up at the end, with the line of policy that would allow it. It decides " +
    "nothing, and it makes opening files many times slower, so it is for finding out.",
  "wait-all":
    "When the command ends, faraday ends what it left running: TERM first, KILL after a grace " +
    "time. With this flag it waits for those processes instead.",
  "keep-fd":
    "Descriptors 0, 1 and 2 are always left to the command; any other that faraday inherited is " +
    "closed unless it is named here.",
  json:
    "One object with a version field `v`, never coloured. The exit code is the same as without " +
    "it.",
  color:
    "`auto` colours messages on a terminal, unless NO_COLOR is set to something. The flag is " +
    "stronger than NO_COLOR.",
  help: null,
  version: null,
};

/** What `--help` says about a command before its flags. */
export const COMMAND_DETAILS: Readonly<Record<CommandName, string>> = {
  run:
    "Runs COMMAND, and judges it and every program that it or its descendants start by the " +
    "policy. A denied program fails with EACCES, as if its file were not executable. COMMAND " +
    "begins at the first word that is not a flag, or behind `--`; from there on every word " +
    "reaches it byte for byte, and no shell is involved. Standard output belongs to COMMAND " +
    "alone: faraday speaks on standard error, and only when something is wrong. Its exit code " +
    "is that of COMMAND (see `faraday help exit-codes`).",
  check:
    "Reads a policy as `run` would, with everything it extends, judges its [[test]] examples, " +
    "and reports every mistake at once with its place and a hint. PATH is short for --policy " +
    "PATH; without either, the embedded default policy is checked. Exits with 0 if the policy " +
    "can be used, with 1 if not.",
  doctor:
    "Tries what `run` needs from the kernel (a seccomp listener, ptrace, Landlock with its " +
    "rights) and says what each missing part costs. Exits with 0 if the default policy can be " +
    "enforced here, with 1 if not.",
  help: "Explains a command or a topic on standard output.",
};

/** A line to paste, at the end of each `--help`. */
export const EXAMPLES: Readonly<Record<CommandName | "front", readonly string[]>> = {
  front: ["faraday run -- sh -c 'ls; su -c id'"],
  run: ["faraday run --audit verdicts.jsonl -- sh -c 'ls; su -c id'"],
  check: ["faraday check --json builtin:default"],
  doctor: ["faraday doctor --json"],
  help: ["faraday help exit-codes"],
};
