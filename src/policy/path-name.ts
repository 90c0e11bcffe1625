/** The marks that the kernel puts on programs without a file: see `ExecRequest.realExe`. */
export const MEMFD_PREFIX = "memfd:";
export const DELETED_SUFFIX = " (deleted)";

/**
 * The last segment of a path. A memfd has no path: its name is whatever its maker chose, slashes
 * and all, so it must not pass for the file that it imitates.
 */
export function baseName(path: string): string {
  if (path.startsWith(MEMFD_PREFIX)) return path;
  return path.slice(path.lastIndexOf("/") + 1);
}

/**
 * The kernel shows a memfd as `/memfd:NAME (deleted)`. Requests hold `memfd:NAME`; patterns may
 * be written either way.
 */
export function memfdSpelling(pattern: string): string {
  if (!pattern.startsWith(MEMFD_PREFIX) && !pattern.startsWith(`/${MEMFD_PREFIX}`)) return pattern;
  const name = pattern.startsWith("/") ? pattern.slice(1) : pattern;
  return name.endsWith(DELETED_SUFFIX) ? name.slice(0, -DELETED_SUFFIX.length) : name;
}

/** Resolves dot segments and doubled slashes of an absolute path, by text alone. */
export function foldPath(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") kept.pop();
    else if (segment !== "" && segment !== ".") kept.push(segment);
  }
  return `/${kept.join("/")}`;
}
