import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "./client.ts";

/** Installs the pinned client unless it is there, and returns the path of its program. */
export function installClient(client: Client, root: string): string {
  const folder = join(root, client.name);
  const modules = join(folder, "node_modules");
  if (installedVersion(modules, client) !== client.version) {
    mkdirSync(folder, { recursive: true });
    const wanted = `${client.packageName}@${client.version}`;
    console.error(`try-agent: installing ${wanted}`);
    const words = ["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", wanted];
    const done = Bun.spawnSync(words, { stdin: "ignore", stdout: "ignore", stderr: "inherit" });
    if (done.exitCode !== 0) throw new Error(`npm could not install ${wanted}`);
  }
  return join(modules, client.program);
}

function installedVersion(modules: string, client: Client): string | null {
  const manifest = join(modules, client.packageName, "package.json");
  if (!existsSync(manifest)) return null;
  return JSON.parse(readFileSync(manifest, "utf8")).version;
}
