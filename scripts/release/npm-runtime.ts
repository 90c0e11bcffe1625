import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import lock from "../../package-lock.json" with { type: "json" };

export interface LockedPackage {
  readonly version: string;
  readonly integrity: string;
  readonly license: string;
  readonly dev?: boolean;
}

export const LOCKED = lock.packages as unknown as Readonly<Record<string, LockedPackage>>;

/**
 * The Bun of another machine, from the npm package that package-lock.json pins. npm itself would
 * leave it out on this machine, so it is packed, compared with the lock file, and unpacked.
 */
export function npmRuntime(name: string, folder: string): string {
  const locked = LOCKED[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`package-lock.json has no ${name}`);
  const place = join(folder, `${name.replace("/", "-")}-${locked.version}`);
  const runtime = join(place, "package/bin/bun");
  if (!existsSync(runtime)) fetch(`${name}@${locked.version}`, locked.integrity, place);
  return runtime;
}

function fetch(spec: string, integrity: string, place: string): void {
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  run(["npm", "pack", "--silent", spec, "--pack-destination", place]);
  const archive = readdirSync(place).find((file) => file.endsWith(".tgz"));
  if (archive === undefined) throw new Error(`npm pack ${spec} made no archive`);
  const bytes = readFileSync(join(place, archive));
  const hash = new Bun.CryptoHasher("sha512").update(bytes).digest("base64");
  if (`sha512-${hash}` !== integrity) throw new Error(`${spec} is not what package-lock.json pins`);
  run(["tar", "-xzf", join(place, archive), "-C", place]);
  rmSync(join(place, archive));
}

/** Runs a command to its end and returns what it printed; fails with its complaint. */
export function run(argv: readonly string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync([...argv], { stdout: "pipe", stderr: "pipe" });
  if (!success) throw new Error(`${argv.join(" ")}: ${stderr.toString().trim()}`);
  return stdout.toString().trim();
}
