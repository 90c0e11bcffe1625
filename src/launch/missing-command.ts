/** Words that only a shell knows; there is no program of that name to start. */
const SHELL_WORDS = new Set([
  ...["alias", "bg", "cd", "declare", "eval", "exec", "exit", "export", "fg", "local", "read"],
  ...["set", "shopt", "source", "type", "ulimit", "unset", ".", ":"],
]);

/** What was most likely meant by a command that was not found; null if nothing can be guessed. */
export function missingCommandHint(word: string): string | null {
  if (SHELL_WORDS.has(word)) return `\`${word}\` is part of the shell: run it with \`sh -c\``;
  if (/\s/.test(word)) {
    return "it was given as one word: leave out the quotes, or put `sh -c` before it";
  }
  // A prefix as in `CI=1 make` is read by shells alone.
  if (/^\w+=/.test(word)) return `no shell reads it: put \`env\` before \`${word}\``;
  return null;
}
