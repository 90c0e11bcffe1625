import { COMMANDS, type CommandName, FLAGS, type FlagName, longName, type Shell } from "./flags.ts";

/** A script that completes faraday's commands, flags and values, made from the table of flags. */
export function completionScript(shell: Shell): string {
  switch (shell) {
    case "bash":
      return bashScript();
    case "zsh":
      return zshScript();
    case "fish":
      return fishScript();
    default:
      return shell satisfies never;
  }
}

const names = Object.keys(COMMANDS) as CommandName[];
const HELP_SUBJECTS = [...names, ...(COMMANDS.help.operands as readonly string[])];

/** The words that may stand behind the flags of a command; null where they are files or more. */
function operandWords(command: CommandName): readonly string[] | null {
  if (command === "help") return HELP_SUBJECTS;
  const { operands } = COMMANDS[command];
  return typeof operands === "string" ? null : operands;
}

function spellings(flag: FlagName): readonly string[] {
  const { short } = FLAGS[flag];
  return short === null ? [`--${longName(flag)}`] : [`--${longName(flag)}`, `-${short}`];
}

const takesPath = ({ value }: { readonly value: string | null }): boolean =>
  value === "PATH" || value === "GLOB" || value === "DIRECTORY";

/** What bash does once it knows the command and the flag before the word. */
function bashScript(): string {
  const flagsOf = names.map((name) => {
    const words = COMMANDS[name].flags.flatMap(spellings).join(" ");
    return `    ${name}) flags='${words}' ;;`;
  });
  const valued = names.flatMap((name) =>
    COMMANDS[name].flags
      .filter((flag) => FLAGS[flag].value !== null)
      .map((flag) => {
        const pattern = spellings(flag)
          .map((word) => `${name}:${word}`)
          .join("|");
        return `    ${pattern}) ${bashValue(flag)}; return ;;`;
      }),
  );
  const operands = names.flatMap((name) => {
    const words = operandWords(name);
    if (words !== null)
      return [`    ${name}) COMPREPLY=($(compgen -W '${words.join(" ")}' -- "$word")) ;;`];
    return COMMANDS[name].operands === "none"
      ? []
      : [`    ${name}) COMPREPLY=($(compgen -f -- "$word")) ;;`];
  });
  return `# bash completion for faraday: source <(faraday completions bash)
_faraday() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} flags= command= at
  COMPREPLY=()
  # Bash parts --flag=value at the equals sign.
  if [ "$word" = = ]; then word=
  elif [ "$before" = = ]; then before=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${names.join(" ")} --help --version' -- "$word"))
    return
  fi
  command=\${COMP_WORDS[1]}
  # Behind \`--\`, or behind the command to run, its own completion counts.
  if [ "$command" = run ] || [ "$command" = explain ]; then
    for ((at = 2; at < COMP_CWORD; at++)); do
      if [ "\${COMP_WORDS[at]}" = -- ]; then
        if declare -F _comp_command_offset >/dev/null; then _comp_command_offset $((at + 1))
        elif declare -F _command_offset >/dev/null; then _command_offset $((at + 1))
        elif [ "$COMP_CWORD" -eq $((at + 1)) ]; then COMPREPLY=($(compgen -c -- "$word"))
        else COMPREPLY=($(compgen -f -- "$word")); fi
        return
      fi
    done
  fi
  case "$command:$before" in
${valued.join("\n")}
  esac
  case "$command" in
${flagsOf.join("\n")}
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
    return
  fi
  case "$command" in
${operands.join("\n")}
  esac
}
complete -o filenames -F _faraday faraday
`;
}

function bashValue(flag: FlagName): string {
  const spec = FLAGS[flag];
  if (spec.choices !== undefined) {
    return `COMPREPLY=($(compgen -W '${spec.choices.join(" ")}' -- "$word"))`;
  }
  return takesPath(spec) ? 'COMPREPLY=($(compgen -f -- "$word"))' : "COMPREPLY=()";
}

/** Inside single quotes, where zsh and fish give a few characters a meaning of their own. */
const zshText = (text: string): string =>
  text.replaceAll("'", "'\\''").replace(/[[\]:\\]/g, "\\$&");

function zshScript(): string {
  const commands = names.map((name) => `    '${name}:${zshText(COMMANDS[name].summary)}'`);
  const cases = names.map((name) => {
    const specs = COMMANDS[name].flags.flatMap((flag) =>
      spellings(flag).map((word) => `        '${zshFlag(flag, word)}'`),
    );
    const words = [...specs, `        ${zshOperand(name)}`].join(" \\\n");
    return `      ${name})\n        _arguments -s \\\n${words} ;;`;
  });
  return `#compdef faraday
# zsh completion for faraday: save this as _faraday in a directory of $fpath
_faraday() {
  local -a commands=(
${commands.join("\n")}
  )
  local context state line
  typeset -A opt_args
  _arguments -C '(-)'{-h,--help}'[show help]' '(-)'{-V,--version}'[print the version]' \\
    '1:command:->command' '*::: :->argument'
  case $state in
    command) _describe 'faraday command' commands ;;
    argument)
      words=($line[1] "\${words[@]}")
      (( CURRENT += 1 ))
      case $line[1] in
${cases.join("\n")}
      esac ;;
  esac
}
if [ "$funcstack[1]" = _faraday ]; then _faraday "$@"; else compdef _faraday faraday; fi
`;
}

function zshFlag(flag: FlagName, word: string): string {
  const spec = FLAGS[flag];
  const many = spec.repeat === "list" ? "*" : "";
  const text = `${many}${word}[${zshText(spec.summary)}]`;
  if (spec.value === null) return text;
  if (spec.choices !== undefined) return `${text}:${spec.value}:(${spec.choices.join(" ")})`;
  return `${text}:${spec.value}:${takesPath(spec) ? "_files" : " "}`;
}

function zshOperand(command: CommandName): string {
  const words = operandWords(command);
  if (words !== null) return `'1:word:(${words.join(" ")})'`;
  const { operands } = COMMANDS[command];
  if (operands === "command") return "'*::command:_normal'";
  return operands === "file" ? "'*:file:_files'" : "'*:nothing: '";
}

const fishText = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");

function fishScript(): string {
  const lines = names.map((name) => {
    const text = fishText(COMMANDS[name].summary);
    return `complete -c faraday -n __fish_use_subcommand -f -a ${name} -d '${text}'`;
  });
  for (const name of names) {
    const inside = `-n '__fish_seen_subcommand_from ${name}; and __faraday_is_own'`;
    for (const flag of COMMANDS[name].flags)
      lines.push(`complete -c faraday ${inside} ${fishFlag(flag)}`);
    const words = operandWords(name);
    if (words !== null) lines.push(`complete -c faraday ${inside} -f -a '${words.join(" ")}'`);
    else if (COMMANDS[name].operands === "none") lines.push(`complete -c faraday ${inside} -f`);
    else if (COMMANDS[name].operands === "command") {
      const behind = `-n '__fish_seen_subcommand_from ${name}; and not __faraday_is_own'`;
      lines.push(`complete -c faraday ${behind} -f -a '(__fish_complete_subcommand --fcs-skip=3)'`);
    }
  }
  return `# fish completion for faraday: save this as ~/.config/fish/completions/faraday.fish
function __faraday_is_own
  not contains -- -- (commandline -opc)
end
${lines.join("\n")}
`;
}

function fishFlag(flag: FlagName): string {
  const spec = FLAGS[flag];
  const words = [`-l ${longName(flag)}`];
  if (spec.short !== null) words.push(`-s ${spec.short}`);
  if (spec.value !== null) words.push("-r");
  if (spec.choices !== undefined) words.push(`-f -a '${spec.choices.join(" ")}'`);
  else if (spec.value === null || !takesPath(spec)) words.push("-f");
  words.push(`-d '${fishText(spec.summary)}'`);
  return words.join(" ");
}
