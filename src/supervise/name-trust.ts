import { AT_FDCWD, AT_SYMLINK_NOFOLLOW, S_IFDIR, S_IFMT } from "../../ffi/abi/file.ts";
import type { FileCalls } from "../../ffi/calls/file.ts";
import type { CompiledPolicy } from "../policy/compile-policy.ts";
import { LOADER_PATHS } from "./dynamic-loader.ts";
import type { NameTrust } from "./exec-judge.ts";

/** Where programs live that a deny rule names by their basename alone. */
const PROGRAM_DIRECTORIES = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"] as const;
const NONE: readonly string[] = [];

/** Files that are known by what they are, whatever name they go by. */
export interface KnownFiles {
  /** The names of files that deny rules name, by id: a hard link does not get around them. */
  readonly denied: ReadonlyMap<string, readonly string[]>;
  readonly loaders: ReadonlySet<string>;
}

export function findKnownFiles(policy: CompiledPolicy, files: FileCalls): KnownFiles {
  const denied = new Map<string, string[]>();
  const note = (path: string): void => {
    const stat = files.stat(AT_FDCWD, path, 0);
    if (stat === null) return;
    const names = denied.get(stat.id);
    if (names === undefined) denied.set(stat.id, [path]);
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
  return { denied, loaders };
}

/** In the trees that the agent may write a name proves nothing. */
export function nameTrust(known: KnownFiles, writableTrees: readonly string[]): NameTrust {
  const trees = writableTrees.map((tree) => (tree.endsWith("/") ? tree : `${tree}/`));
  return {
    hasTrees: trees.length > 0,
    isPlantable: (path) => trees.some((tree) => `${path}/`.startsWith(tree)),
    aliases: (fileId) => known.denied.get(fileId) ?? NONE,
    isLoader: (fileId) => known.loaders.has(fileId),
  };
}

/** /bin is a link to /usr/bin almost everywhere; where it is a directory it counts. */
function programDirectories(files: FileCalls): readonly string[] {
  const bin = files.stat(AT_FDCWD, "/bin", AT_SYMLINK_NOFOLLOW);
  const isDirectory = bin !== null && (bin.mode & S_IFMT) === S_IFDIR;
  return isDirectory ? [...PROGRAM_DIRECTORIES, "/bin", "/sbin"] : PROGRAM_DIRECTORIES;
}
