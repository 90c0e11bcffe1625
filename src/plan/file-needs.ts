import { type FsRight, fsRightBit } from "../../ffi/abi/landlock.ts";
import type { LandlockPlan } from "./launch-plan.ts";

/** Rights that a call needs on a path, or on what is above it. One character a byte. */
export interface FileNeed {
  readonly path: string;
  readonly rights: readonly FsRight[];
  /** A directory whose entries are changed, rather than the file of that name. */
  readonly isParent: boolean;
}

/** The rules of a seal as the kernel reads them: rights add up from the root down. */
export class SealReader {
  readonly #handled: number;
  readonly #access = new Map<string, number>();

  constructor({ handledFs, grants }: Pick<LandlockPlan, "handledFs" | "grants">) {
    this.#handled = handledFs;
    for (const { path, access } of grants) {
      this.#access.set(path, (this.#access.get(path) ?? 0) | access);
    }
  }

  /** Those of the needed rights that the seal does not give. */
  missing({ path, rights }: FileNeed): readonly FsRight[] {
    let access = ~this.#handled | (this.#access.get("/") ?? 0);
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      access |= this.#access.get(path.slice(0, end)) ?? 0;
    }
    return rights.filter((right) => (access & fsRightBit(right)) === 0);
  }
}

const READ: readonly FsRight[] = ["read_file", "read_dir", "execute"];

export interface SuggestedGrant {
  readonly key: "read_globs" | "write_globs" | "allow_globs";
  readonly glob: string;
}

/** The narrowest grant that would have let the call through. */
export function suggestGrant({ path, rights, isParent }: FileNeed): SuggestedGrant {
  const reads = rights.some((right) => READ.includes(right));
  const writes = rights.some((right) => !READ.includes(right));
  const key = reads && writes ? "allow_globs" : reads ? "read_globs" : "write_globs";
  return { key, glob: isParent ? `${path === "/" ? "" : path}/**` : path };
}
