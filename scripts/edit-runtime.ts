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
 * How often code runs before it is compiled: the first tier at all, the first tier in a hurry, the
 * second tier, and the second tier after a long warm-up. A run that starts one program runs nearly
 * all of its code a few times; with the engine's own numbers, two threads compile it meanwhile on
 * the processors that the rest of the start needs. What answers thousands of notifications is
 * compiled all the same, some hundred notifications later, and then soon by the second tier: what
 * has run so often will run on, and the first one is hardly faster than none.
 */
const COMPILES_AFTER = { from: [500, 100, 1000, 1000], to: [5000, 1000, 100, 1000] } as const;

/**
 * Changes what the runtime has no switch for, by editing its constants in the built file. A name
 * with a NUL in it can never be found in an environment. (Stripping is no alternative: it turns
 * the binary into plain bun.)
 */
export async function editRuntime(path: string, runtime: string): Promise<void> {
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
  const edited = replaceAll(image, words(COMPILES_AFTER.from), words(COMPILES_AFTER.to));
  if (edited !== 1) throw new Error(`the runtime has its thresholds ${edited} times, not once`);
  await Bun.write(`${path}.edited`, file);
  chmodSync(`${path}.edited`, 0o755);
  renameSync(`${path}.edited`, path);
}

function replaceAll(image: Buffer, from: Buffer, to: Buffer): number {
  let count = 0;
  for (let at = image.indexOf(from); at >= 0; at = image.indexOf(from, at + to.length)) {
    to.copy(image, at);
    count++;
  }
  return count;
}

function words(numbers: readonly number[]): Buffer {
  return Buffer.from(Int32Array.from(numbers).buffer);
}
