import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** A directory with all that the attempts need, the same for both stages. */
export function prepareGround(directory: string): string {
  const at = (name: string): string => join(directory, name);
  for (const name of ["bin/allowed", "bin/denied", "work/hole", "work/free", "outside"])
    mkdirSync(at(name), { recursive: true });
  const program = ["/usr/bin/test", "/bin/test"].find((path) => existsSync(path)) ?? "/bin/sh";
  for (const name of ["bin/allowed/test", "bin/denied/test", "work/free/deleted"]) {
    copyFileSync(program, at(name));
    chmodSync(at(name), 0o755);
  }
  writeFileSync(at("work/script"), `#!${at("bin/denied/test")}\n`, { mode: 0o755 });
  symlinkSync(at("bin/denied/test"), at("work/symlink"));
  symlinkSync(at("outside/secret"), at("work/to-secret"));
  symlinkSync(at("outside/socket"), at("work/to-socket"));
  for (const name of ["secret", "truncated", "moved", "removed"]) {
    writeFileSync(at(`outside/${name}`), "secret\n");
  }
  writeFileSync(at("work/hole/secret"), "secret\n");
  try {
    linkSync(at("bin/denied/test"), at("work/hardlink"));
  } catch {
    // A file system without hard links: the attempt says so.
  }
  return directory;
}
