import type { CommandName, FlagName } from "./flags.ts";

/** What `--help` says about a flag beyond its line in the table, if there is more to say. */
export const FLAG_DETAILS: Readonly<Record<FlagName, string | null>> = {
  policy:
    "The policy to judge by: a TOML file, or `builtin:NAME` for one that is part of faraday. A " +
    "policy with a mistake in it starts nothing. `faraday help policy` shows what one looks like.",
  profile:
    "`--profile NAME` is short for `--policy builtin:NAME`. `faraday profiles NAME` prints the " +
    "policy; one of your own can build on it with `extends`.",
  path:
    "The answer is the one of the kernel's seal as `run` would make it on this machine now: " +
    "which " +
    "grant covers the file, which hole it lies in, or which line of policy would allow it.",
  "wants-read": null,
  "wants-write":
    "For a file that does not exist this asks whether it may be created in its directory.",
  host: "Without a port that of HTTPS is meant. Nothing is resolved, and nobody is asked.",
  url:
    "For http and https. It is judged by its host and, where it is that of a route, by the " +
    "route's endpoint_rules.",
  cwd: "Relative paths and `cwd_glob` go by it.",
  parent:
    "The first word is the program, looked up as a shell would; the rest are its arguments, " +
    "parted " +
    "by blanks. Without it the parent is not known, and rules that ask for one do not match.",
  uid: null,
  denied: "Execs that were denied or killed, files and connections that were refused.",
  event: null,
  rule: null,
  session: null,
  follow:
    "Shows what is there, then waits for more, until it is interrupted. A file that does not " +
    "exist yet is waited for.",
  tree: "Programs stand below the process that started them, each run by itself.",
  summary: null,
  force: null,
  audit:
    "Every program start, every request to the proxy and every refused connection becomes one " +
    "JSON object on a line of its own, written before the verdict takes effect. `faraday log` " +
    "shows the file, which is created with mode 0600 and only ever appended to.",
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
  "block-net":
    "The kernel refuses every socket that could leave the machine or reach a service on it. " +
    "Nothing else of the [network] table counts then.",
  "allow-domain":
    "Goes before `allowed_hosts` of the policy's [network] table. HOST is a name, `*.name`, an " +
    "address or a range such as 10.0.0.0/8, and may end in `:port`. With the first of these " +
    "flags everything that is not listed is refused.",
  "deny-domain":
    "Goes before `denied_hosts` of the policy's [network] table, which is looked at before what " +
    "is allowed.",
  "allow-endpoint":
    "ENDPOINT is SVC:METHOD:PATH, as in 'github:GET:/repos/**'. It goes before `endpoint_rules` " +
    "of the policy's [network.routes.SVC] table. In PATH `*` is one segment and `**` any number; " +
    "METHOD may be `*`.",
  "wait-all":
    "When the command ends, faraday ends what it left running: TERM first, KILL after a grace " +
    "time. With this flag it waits for those processes instead.",
  "keep-fd":
    "Descriptors 0, 1 and 2 are always left to the command; any other that faraday inherited is " +
    "closed unless it is named here.",
  json:
    "One object with a version field `v` (`log`: one a line), never coloured. The exit code is " +
    "the " +
    "same as without it.",
  color:
    "`auto` colours messages on a terminal, unless NO_COLOR is set to something. The flag is " +
    "stronger than NO_COLOR.",
  help: null,
  version: null,
};

/** What faraday is, for the front page and the manual. */
export const ABOUT =
  "Wraps a command, such as a coding agent, in layers that the kernel enforces by one policy " +
  "file: which programs it and its descendants start, which files they touch, and whom they " +
  "reach over the network. No root, no container, no daemon.";

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
  explain:
    "Judges COMMAND as `run` would, and starts nothing. The program is looked up in PATH, links " +
    "are followed, and what a script's `#!` line names is judged too. Shown are the verdict, the " +
    "rule with its place, for each rule above it the key that did not match, and the narrowest " +
    "change that would turn the verdict. With --path, --host or --url it is asked about a file " +
    "or " +
    "a connection instead. Exits with 0 for allow, with 1 for deny.",
  log:
    "Shows the records that `faraday run --audit FILE` wrote, one a line, and sums by rule at " +
    "the " +
    "end. FILE may still be written to; `-` is standard input. Lines that are no records are " +
    "reported with their number and passed over; then the exit code is 1.",
  profiles:
    "Without NAME, lists the policies that are part of faraday, each with what it is for. With " +
    "NAME, prints that policy as it is, comments and tests included, to read or to copy.",
  init:
    "Looks at what the project is made with (package.json, Cargo.toml, pyproject.toml, go.mod, " +
    "Makefile, .git) and writes a commented faraday.toml that extends a profile (`default` " +
    "unless --profile names another) with rules, grants and a [[test]] to match. It is a " +
    "beginning to be edited. A file that is there is not touched unless --force is given.",
  selftest:
    "Starts a set of attempts to get around a temporary policy, made by faraday itself and " +
    "/bin/sh, and shows for each whether it was held. Beside every attempt a control shows that " +
    "the same thing works where it is allowed, so that a broken attempt does not pass for a held " +
    "one; and allowed work has to work inside. Nothing outside of a temporary directory is " +
    "touched, and no network but loopback. Exits with 0 if everything was held, with 1 if not.",
  completions:
    "The script completes commands, flags, their values and profile names. For bash: put `source " +
    "<(faraday completions bash)` into ~/.bashrc. For zsh: save it as `_faraday` in a directory " +
    "of " +
    "$fpath. For fish: save it as ~/.config/fish/completions/faraday.fish.",
  man: "To read it at once: `faraday man | man -l -`.",
  schema:
    "JSON Schema, draft 2020-12. An editor with TOML support (taplo, Even Better TOML) completes " +
    "and checks a policy whose first line is `#:schema PATH` with the path of a file that holds " +
    "it.",
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
  explain: ["faraday explain --profile strict -- git push origin main"],
  log: ["faraday log --denied verdicts.jsonl"],
  profiles: ["faraday profiles strict"],
  init: ["faraday init --profile claude-code"],
  selftest: ["faraday selftest"],
  completions: ["faraday completions bash"],
  man: ["faraday man"],
  schema: ["faraday schema"],
  doctor: ["faraday doctor --json"],
  help: ["faraday help exit-codes"],
};
