import { chmodSync, renameSync, statSync } from "node:fs";

/**
 * Names that the runtime inside the binary looks up in the environment and that would turn a
 * sandbox into something else: BUN_BE_BUN makes it plain bun, BUN_OPTIONS can preload foreign code,
 * BUN_INSPECT opens a debugger, NODE_CHANNEL_FD takes orders from a parent.
 */
const VARIABLES = ["BUN_BE_BUN", "BUN_OPTIONS", "BUN_INSPECT", "NODE_CHANNEL_FD"] as const;

/**
 * Bun raises the limit of open files at start, and the original value cannot be found out
 * afterwards. The import becomes the harmless twin of the same signature.
 */
const IMPORTS = [{ from: "\0setrlimit\0", to: "\0getrlimit\0" }] as const;

/**
 * Closes doors of the runtime that have no switch, by editing its constants in the built file. A
 * name with a NUL in it can never be found in an environment. (Stripping is no alternative: it
 * turns the binary into plain bun.)
 */
export async function closeRuntime(path: string, runtime: string): Promise<void> {
  const file = Buffer.from(await Bun.file(path).arrayBuffer());
  // Our own code stands behind the runtime, and may name what is closed.
  const image = file.subarray(0, statSync(runtime).size);
  for (const name of VARIABLES) {
    const count = replaceAll(image, Buffer.from(name), Buffer.from(`\0${name.slice(1)}`));
    if (count === 0)
      throw new Error(`${name} is not in the runtime any more: look for its new name`);
  }
  for (const { from, to } of IMPORTS) {
    // The names of imports stand near the start of an ELF file, before any other mention.
    const at = image.indexOf(from);
    if (at < 0)
      throw new Error(`the runtime does not import ${from.replaceAll("\0", "")} any more`);
    image.write(to, at, "latin1");
  }
  await Bun.write(`${path}.closed`, file);
  chmodSync(`${path}.closed`, 0o755);
  renameSync(`${path}.closed`, path);
}

function replaceAll(image: Buffer, from: Buffer, to: Buffer): number {
  let count = 0;
  for (let at = image.indexOf(from); at >= 0; at = image.indexOf(from, at + to.length)) {
    to.copy(image, at);
    count++;
  }
  return count;
}
