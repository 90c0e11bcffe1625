import type { Fd } from "../abi/brand.ts";
import { Errno } from "../abi/errno.ts";
import { KernelBuffer, sys } from "./libc.ts";

/** The kernel's 255, and a slash. */
const NAME_BYTES_MAX = 256;
const PATH_BYTES_MAX = 4096;

/** A name, one character a byte, in a directory that is held by its descriptor. */
export interface HeldEntry {
  readonly directory: Fd | number;
  readonly name: string;
}

/** Makes, moves and removes entries of directories. Results are zero or a negated errno. */
export class EntryCalls {
  readonly #first = new KernelBuffer(NAME_BYTES_MAX + 1);
  readonly #second = new KernelBuffer(NAME_BYTES_MAX + 1);
  readonly #path = new KernelBuffer(PATH_BYTES_MAX + 1);

  makeDirectory(entry: HeldEntry, mode: number): number {
    return this.#with(entry, (name) => sys("mkdirat", entry.directory, name, mode));
  }

  makeNode(entry: HeldEntry, mode: number): number {
    return this.#with(entry, (name) => sys("mknodat", entry.directory, name, mode, 0));
  }

  makeLink(entry: HeldEntry, target: string): number {
    if (target.length > PATH_BYTES_MAX) return -Errno.ENAMETOOLONG;
    const text = this.#path.cstring(target);
    return this.#with(entry, (name) => sys("symlinkat", text, entry.directory, name));
  }

  remove(entry: HeldEntry, flags: number): number {
    return this.#with(entry, (name) => sys("unlinkat", entry.directory, name, flags));
  }

  rename(from: HeldEntry, to: HeldEntry, flags: number): number {
    return this.#withBoth(from, to, (first, second) =>
      sys("renameat2", from.directory, first, to.directory, second, flags),
    );
  }

  link(from: HeldEntry, to: HeldEntry): number {
    return this.#withBoth(from, to, (first, second) =>
      sys("linkat", from.directory, first, to.directory, second, 0),
    );
  }

  truncate(file: Fd | number, length: number): number {
    return sys("truncate", this.#path.cstring(`/proc/self/fd/${file}`), length);
  }

  #with({ name }: HeldEntry, call: (name: number) => number): number {
    if (name.length > NAME_BYTES_MAX) return -Errno.ENAMETOOLONG;
    return call(this.#first.cstring(name));
  }

  #withBoth(from: HeldEntry, to: HeldEntry, call: (a: number, b: number) => number): number {
    if (to.name.length > NAME_BYTES_MAX) return -Errno.ENAMETOOLONG;
    const second = this.#second.cstring(to.name);
    return this.#with(from, (first) => call(first, second));
  }
}
