import {
  AT_SYMLINK_NOFOLLOW,
  DIRENT_NAME_AT,
  Dirent64,
  DT_DIR,
  DT_LNK,
  DT_UNKNOWN,
  O_RDONLY,
  S_IFDIR,
  S_IFLNK,
  S_IFMT,
} from "../abi/file.ts";
import type { FileCalls } from "./file.ts";
import { KernelBuffer, sys } from "./libc.ts";

export interface ListedEntry {
  /** One character a byte. */
  readonly name: string;
  readonly kind: "directory" | "link" | "file";
}

const BATCH_BYTES = 64 * 1024;
const SIZE_AT = Dirent64.at.recordBytes;

/**
 * Everything in a directory but `.` and `..`; a negated errno if it cannot be read. Not node:fs,
 * which in Bun cannot list names as bytes together with their types.
 */
export function listDirectory(files: FileCalls, path: string): readonly ListedEntry[] | number {
  const fd = files.open(path, O_RDONLY);
  if (fd < 0) return fd;
  const batch = new KernelBuffer(BATCH_BYTES);
  const entries: ListedEntry[] = [];
  let length = sys("getdents64", fd, batch.address, BATCH_BYTES);
  for (; length > 0; length = sys("getdents64", fd, batch.address, BATCH_BYTES)) {
    // One string for all the names: parts of a string cost a start much less than calls for each.
    const text = batch.bytes.toString("latin1", 0, length);
    for (let at = 0; at < length; ) {
      const size = text.charCodeAt(at + SIZE_AT) + text.charCodeAt(at + SIZE_AT + 1) * 256;
      if (size === 0) throw new Error("getdents64 gave an entry without a length");
      const start = at + DIRENT_NAME_AT;
      const name = text.slice(start, text.indexOf("\0", start));
      const type = text.charCodeAt(at + Dirent64.at.type);
      at += size;
      if (name === "." || name === "..") continue;
      entries.push({ name, kind: type === DT_UNKNOWN ? lookUp(files, fd, name) : kindOf(type) });
    }
  }
  files.close(fd);
  return length < 0 ? length : entries;
}

function kindOf(type: number): ListedEntry["kind"] {
  if (type === DT_DIR) return "directory";
  return type === DT_LNK ? "link" : "file";
}

/** Some file systems do not keep the type beside the name. */
function lookUp(files: FileCalls, directory: number, name: string): ListedEntry["kind"] {
  const type = (files.stat(directory, name, AT_SYMLINK_NOFOLLOW)?.mode ?? 0) & S_IFMT;
  if (type === S_IFDIR) return "directory";
  return type === S_IFLNK ? "link" : "file";
}
