/** What the tests of the file seal share: a seal from a table's text, its rights by name. */
import { FS_RIGHTS, fsRightBit } from "../../ffi/abi/landlock.ts";
import { type FileSeal, fileSeal } from "../../src/plan/file-seal.ts";
import type { Diagnostic } from "../../src/policy/diagnostic.ts";
import type { Result } from "../../src/policy/result.ts";
import { parsed } from "../policy/policy-fixture.ts";
import { type FakeDisk, fakeFacts } from "./fake-disk.ts";

export interface SealOptions {
  readonly abi?: number;
  readonly cwd?: string;
  readonly mounts?: Readonly<Record<string, readonly string[]>>;
  readonly bootstrap?: boolean;
  /** Trees in which names that differ in case are one. */
  readonly folding?: readonly string[];
}

export function trySeal(
  table: string,
  disk: FakeDisk,
  options: SealOptions = {},
): Result<FileSeal, readonly Diagnostic[]> {
  const bootstrap = options.bootstrap === true ? "" : "no_bootstrap_reads = true\n";
  const { policy } = parsed(`[filesystem]\n${bootstrap}${table}\n`);
  if (policy.filesystem === null) throw new Error("the policy has no table");
  return fileSeal({
    policy: policy.filesystem,
    landlockAbi: options.abi ?? 7,
    cwd: options.cwd ?? "/work",
    facts: fakeFacts(disk, options.mounts, options.folding),
  });
}

export function seal(table: string, disk: FakeDisk, options: SealOptions = {}): FileSeal {
  const result = trySeal(table, disk, options);
  if (!result.ok) throw new Error(result.error.map(({ message }) => message).join("\n"));
  return result.value;
}

export function rightNames(access: number): string[] {
  return FS_RIGHTS.flatMap(({ name }) => ((access & fsRightBit(name)) === 0 ? [] : name));
}

/** What the agent may do at `path`, as the kernel adds it up: the rules on it and above it. */
export function rightsAt({ landlock }: FileSeal, path: string): string[] {
  let access = 0;
  for (const grant of landlock?.grants ?? []) {
    const root = grant.path === "/" ? "" : grant.path;
    if (path === grant.path || path.startsWith(`${root}/`)) access |= grant.access;
  }
  return rightNames(access);
}

/** `r`, `x` and `w` for reading, starting and writing the file at a path. */
export function usesAt(of: FileSeal, path: string): string {
  const rights = rightsAt(of, path);
  const letters = { read_file: "r", execute: "x", write_file: "w" } as const;
  return Object.entries(letters)
    .flatMap(([right, letter]) => (rights.includes(right) ? letter : []))
    .join("");
}
