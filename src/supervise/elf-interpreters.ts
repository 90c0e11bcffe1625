import type { FileCalls, FileStat } from "../../ffi/calls/file.ts";
import { KernelBuffer } from "../../ffi/calls/libc.ts";
import { isSystemLoader } from "./dynamic-loader.ts";

const MAPS_BYTES = 16 * 1024;
const REMEMBERED_MAX = 4096;
/** Times of change are as coarse as a clock tick, so what changed just now may change unseen. */
const SETTLED_SECONDS = 2;

/**
 * Finds programs that the kernel mapped as ELF interpreters. A PT_INTERP may name any program, and
 * exe does not show it: just after an exec, it is the other file that is mapped.
 */
export class ElfInterpreters {
  readonly #files: FileCalls;
  readonly #nowSeconds: () => number;
  readonly #maps = new KernelBuffer(MAPS_BYTES);
  /** Files that were seen to be started with the system's loader or none, as they are now. */
  readonly #harmless = new Map<string, string>();

  constructor(files: FileCalls, nowSeconds: () => number) {
    this.#files = files;
    this.#nowSeconds = nowSeconds;
  }

  /** True if this very content of the file is known to bring no interpreter but a loader. */
  isHarmless(exe: FileStat): boolean {
    return this.#harmless.get(exe.id) === exe.changed;
  }

  /** The paths of interpreters that are no loader; null if it cannot be told. */
  of(pid: number, exe: FileStat): string[] | null {
    const found = this.mapped(pid)?.filter((path) => !isSystemLoader(path)) ?? null;
    if (found?.length === 0) this.#remember(exe);
    return found;
  }

  /** The files that a process has mapped besides its own program, in the order of addresses. */
  mapped(pid: number): string[] | null {
    const exePath = this.#files.readlink(`/proc/${pid}/exe`);
    const length = this.#files.slurp(`/proc/${pid}/maps`, this.#maps);
    if (exePath === null || length <= 0 || length >= MAPS_BYTES) return null;
    // The one character that maps cannot show as it is.
    const shownPath = exePath.replaceAll("\n", "\\012");
    const found: string[] = [];
    for (const line of this.#maps.bytes.toString("latin1", 0, length).split("\n")) {
      const slash = line.indexOf("/");
      if (slash < 0) continue;
      const path = line.slice(slash);
      if (path !== shownPath && !found.includes(path)) found.push(path);
    }
    return found;
  }

  #remember(exe: FileStat): void {
    if (this.#nowSeconds() - Number(exe.changed) < SETTLED_SECONDS) return;
    if (this.#harmless.size >= REMEMBERED_MAX) this.#harmless.clear();
    this.#harmless.set(exe.id, exe.changed);
  }
}
