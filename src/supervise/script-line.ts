import { AT_FDCWD } from "../../ffi/abi/file.ts";

/** The kernel looks at this many bytes of a file to tell what it is. */
export const HEAD_BYTES = 256;

export interface ScriptLine {
  readonly interpreter: string;
  /** Everything after the interpreter, as one argument; null if there is nothing. */
  readonly argument: string | null;
}

/**
 * Reads a `#!` line as the kernel's load_script does; null if there is none that it would take.
 * A prediction only: what really started is looked at afterwards.
 */
export function parseScriptLine(head: string): ScriptLine | null {
  if (!head.startsWith("#!")) return null;
  const body = head.slice(2, HEAD_BYTES);
  const newline = body.indexOf("\n");
  const line = (newline < 0 ? body : body.slice(0, newline)).split("\0", 1)[0] ?? "";
  const trimmed = line.replace(/^[ \t]+|[ \t]+$/g, "");
  if (trimmed === "") return null;
  const space = trimmed.search(/[ \t]/);
  // Without a newline in sight the last word may be cut off: the kernel refuses if it is the name.
  if (space < 0) return newline < 0 && head.length >= HEAD_BYTES ? null : plain(trimmed);
  return {
    interpreter: trimmed.slice(0, space),
    argument: trimmed.slice(space).replace(/^[ \t]+/, ""),
  };
}

function plain(interpreter: string): ScriptLine {
  return { interpreter, argument: null };
}

/** What the kernel hands an interpreter as the script's name. */
export function scriptName(call: { readonly path: string; readonly dirFd: number }): string {
  if (call.path.startsWith("/") || call.dirFd === AT_FDCWD) return call.path;
  return call.path === "" ? `/dev/fd/${call.dirFd}` : `/dev/fd/${call.dirFd}/${call.path}`;
}
