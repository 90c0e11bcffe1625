import { Errno } from "../../ffi/abi/errno.ts";
import { AT_FDCWD, S_IFMT, S_IFREG } from "../../ffi/abi/file.ts";
import { FileCalls } from "../../ffi/calls/file.ts";
import { KernelBuffer, sys } from "../../ffi/calls/libc.ts";

const X_OK = 1;
/** What execvp takes when PATH is not set. */
const DEFAULT_PATH = "/bin:/usr/bin";

export type FoundCommand =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "missing" }
  | { readonly kind: "not-executable"; readonly path: string };

/**
 * Looks a command up in PATH before any filter is there: execvp inside it would raise a
 * notification for every entry. Bytes are strings of one character a byte.
 */
export function findCommand(name: string, path: string | undefined): FoundCommand {
  const files = new FileCalls();
  if (name.includes("/")) return probe(files, name) ?? { kind: "missing" };
  if (name === "") return { kind: "missing" };
  let refused: FoundCommand | null = null;
  for (const directory of (path ?? DEFAULT_PATH).split(":")) {
    const found = probe(files, directory === "" ? `./${name}` : `${directory}/${name}`);
    if (found?.kind === "found") return found;
    refused ??= found;
  }
  return refused ?? { kind: "missing" };
}

function probe(files: FileCalls, path: string): FoundCommand | null {
  const stat = files.stat(AT_FDCWD, path, 0);
  if (stat === null) return null;
  const name = KernelBuffer.cstring(Buffer.from(path, "latin1"));
  const isFile = (stat.mode & S_IFMT) === S_IFREG;
  const allowed = isFile ? sys("faccessat", AT_FDCWD, name.address, X_OK) : -Errno.EACCES;
  return { kind: allowed === 0 ? "found" : "not-executable", path };
}
