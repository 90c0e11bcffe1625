/** A disk that exists only in a test: paths with what is there. */
import { isBeneath, type PathFact, type PathFacts } from "../../src/plan/path-facts.ts";

/** `dir`, `file`, `shared` (a file with two names), or `-> /target`. */
export type FakeDisk = Readonly<Record<string, string>>;

export function fakeFacts(
  disk: FakeDisk,
  mounts: Readonly<Record<string, readonly string[]>> = {},
  folding: readonly string[] = [],
): PathFacts {
  const paths = new Map<string, string>([["/", "dir"]]);
  for (const [path, what] of Object.entries(disk)) {
    const parts = path.split("/").slice(1, -1);
    for (let depth = 1; depth <= parts.length; depth++) {
      const parent = `/${parts.slice(0, depth).join("/")}`;
      if (!paths.has(parent)) paths.set(parent, "dir");
    }
    paths.set(path, what);
  }
  const look = (path: string): PathFact => {
    let real = "";
    for (const part of path.split("/").filter((each) => each !== "")) {
      const here = `${real}/${part}`;
      const what = paths.get(here);
      real = what?.startsWith("-> ") === true ? look(what.slice(3)).realPath : here;
    }
    const what = paths.get(real === "" ? "/" : real);
    const kind = what === undefined ? "missing" : what === "dir" ? "directory" : "file";
    return { kind, realPath: real === "" ? "/" : real };
  };
  return {
    look,
    list: (directory) => {
      if (paths.get(directory) !== "dir") return null;
      const prefix = directory === "/" ? "/" : `${directory}/`;
      return [...paths].flatMap(([path, what]) => {
        const name = path.slice(prefix.length);
        if (!path.startsWith(prefix) || name === "" || name.includes("/")) return [];
        const kind = what === "dir" ? "directory" : what.startsWith("-> ") ? "link" : "file";
        return { name, kind } as const;
      });
    },
    target: (path) => {
      const what = paths.get(path);
      return what?.startsWith("-> ") === true ? what.slice(3) : null;
    },
    foldsCase: (directory) => folding.some((each) => isBeneath(directory, each)),
    otherPlaces: (path) => mounts[path] ?? [],
    sharedFile: (path) => {
      const found = [...paths].find(([each, what]) => what === "shared" && isBeneath(each, path));
      return found === undefined ? { kind: "none" } : { kind: "found", path: found[0] };
    },
  };
}
