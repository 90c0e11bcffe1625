import { AT_FDCWD, AT_SYMLINK_NOFOLLOW, S_IFDIR, S_IFMT } from "../../ffi/abi/file.ts";
import type { FileCalls } from "../../ffi/calls/file.ts";
import type { CompiledPolicy } from "../policy/compile-policy.ts";
import { LOADER_PATHS } from "./dynamic-loader.ts";
import type { NameTrust } from "./exec-judge.ts";

/** Where programs live that a deny rule names by their basename alone. */
const PROGRAM_DIRECTORIES = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"] as const;
const NONE: readonly string[] = [];

/**
 * What is known at the start: the files that deny rules name, by inode, so that a hard link does
 * not get around them; and the trees that the agent may write, where a name proves nothing.
 */
export function nameTrust(
  policy: CompiledPolicy,
  files: FileCalls,
  writableTrees: readonly string[],
): NameTrust {
  const byId = new Map<string, string[]>();
  const note = (path: string): void => {
    const stat = files.stat(AT_FDCWD, path, 0);
    if (stat === null) return;
    const names = byId.get(stat.id);
    if (names === undefined) byId.set(stat.id, [path]);
    else if (!names.includes(path)) names.push(path);
  };
  for (const path of policy.deniedPrograms.paths) if (path.startsWith("/")) note(path);
  const wanted = policy.deniedPrograms.basenames;
  for (const directory of wanted.length === 0 ? [] : programDirectories(files)) {
    for (const name of wanted) note(`${directory}/${name}`);
  }
  const loaders = new Set<string>();
  for (const path of LOADER_PATHS) {
    const stat = files.stat(AT_FDCWD, path, 0);
    if (stat !== null) loaders.add(stat.id);
  }
  const trees = writableTrees.map((tree) => (tree.endsWith("/") ? tree : `${tree}/`));
  return {
    isPlantable: (path) => trees.some((tree) => `${path}/`.startsWith(tree)),
    aliases: (fileId) => byId.get(fileId) ?? NONE,
    isLoader: (fileId) => loaders.has(fileId),
  };
}

/** /bin is a link to /usr/bin almost everywhere; where it is a directory it counts. */
function programDirectories(files: FileCalls): readonly string[] {
  const bin = files.stat(AT_FDCWD, "/bin", AT_SYMLINK_NOFOLLOW);
  const isDirectory = bin !== null && (bin.mode & S_IFMT) === S_IFDIR;
  return isDirectory ? [...PROGRAM_DIRECTORIES, "/bin", "/sbin"] : PROGRAM_DIRECTORIES;
}
