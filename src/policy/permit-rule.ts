import type { Action } from "./model.ts";

/** Characters that RE2 gives a meaning. */
const SPECIAL = /[\\^$.|?*+()[\]{}]/g;
const ARGV_CHARACTERS_MAX = 160;

/** The narrowest rule that would let a denied program start (or not), as lines of policy. */
export function permitRule(
  exe: string,
  argv: readonly string[],
  action: Action = "allow",
): readonly string[] {
  const name = exe.slice(exe.lastIndexOf("/") + 1).replace(/[^A-Za-z0-9._-]/g, "-");
  const joined = argv.join(" ");
  const lines = [
    "[[rule]]",
    `id = "${action}-${name}"`,
    `action = "${action}"`,
    `exe = ${quote(exe)}`,
  ];
  if (joined.length > ARGV_CHARACTERS_MAX) return lines;
  return [...lines, `argv_regex = ${quote(`^${joined.replace(SPECIAL, "\\$&")}$`)}`];
}

/** A TOML string: literal where it can be, since a regex is full of backslashes. */
function quote(text: string): string {
  return /^[\x20-\x26\x28-\x7e\u00a0-\ud7ff\ue000-\uffff]*$/.test(text)
    ? `'${text}'`
    : JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}
