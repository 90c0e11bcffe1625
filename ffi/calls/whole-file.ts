import { Errno } from "../abi/errno.ts";
import { AT_EMPTY_PATH, O_NOCTTY } from "../abi/file.ts";
import { FileCalls, type FileStat } from "./file.ts";
import { KernelBuffer } from "./libc.ts";

export interface WholeFile {
  /** No more than asked for: one byte above the limit shows that there was more. */
  readonly bytes: Buffer;
  readonly stat: FileStat;
}

const FIRST_READ_BYTES = 64 * 1024;

/**
 * Reads a file or pipe from one open descriptor; `path` holds one character a byte. A negated
 * errno if it cannot be read. (node:fs would do, but costs a process its start-up time over.)
 */
export function readWholeFile(path: string, bytesMax: number): WholeFile | number {
  // The kernel would see a shorter path.
  if (path.includes("\0")) return -Errno.EINVAL;
  const files = new FileCalls();
  const fd = files.open(path, O_NOCTTY);
  if (fd < 0) return fd;
  const stat = files.stat(fd, "", AT_EMPTY_PATH);
  if (stat === null) {
    files.close(fd);
    return -Errno.EIO;
  }
  let buffer = new KernelBuffer(Math.min(FIRST_READ_BYTES, bytesMax + 1));
  let length = 0;
  let got = 0;
  while (length <= bytesMax) {
    if (length === buffer.bytes.length) buffer = grown(buffer, bytesMax + 1);
    got = files.readAt(fd, buffer, length);
    if (got === -Errno.EINTR) continue;
    if (got <= 0) break;
    length += got;
  }
  files.close(fd);
  return got < 0 ? got : { bytes: buffer.bytes.subarray(0, length), stat };
}

function grown(buffer: KernelBuffer, bytesMax: number): KernelBuffer {
  const larger = new KernelBuffer(Math.min(buffer.bytes.length * 4, bytesMax));
  larger.bytes.set(buffer.bytes);
  return larger;
}

/** A small file of /proc or /sys as text of one character a byte; null if it cannot be read. */
export function readKernelText(path: string): string | null {
  const file = readWholeFile(path, 16 * 1024 * 1024);
  return typeof file === "number" ? null : file.bytes.toString("latin1");
}
