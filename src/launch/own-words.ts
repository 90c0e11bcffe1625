import { readFileSync } from "node:fs";
import { bytesToText } from "../policy/byte-text.ts";

/** Where Bun mounts the files of a compiled executable. */
const COMPILED_ROOT = "/$bunfs/";

/**
 * The words behind `faraday`, byte for byte, or null where /proc cannot be read. Bun turns invalid
 * UTF-8 in process.argv into U+FFFD, so that two different paths become the same one; the kernel's
 * copy is not changed.
 */
export function ownWords(): readonly string[] | null {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync("/proc/self/cmdline");
  } catch {
    return null;
  }
  // Every word ends in a NUL, the last one too.
  const end = bytes.at(-1) === 0 ? bytes.length - 1 : bytes.length;
  const words = bytesToText(bytes.subarray(0, end)).split("\0");
  if (Bun.main.startsWith(COMPILED_ROOT)) return words.slice(1);
  // In development the words of Bun itself (`bun --smol run src/main.ts`) come first.
  const count = process.argv.length - 2;
  return count === 0 ? [] : words.slice(-count);
}
