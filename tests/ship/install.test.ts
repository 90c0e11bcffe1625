import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { REPOSITORY } from "../../scripts/source-files.ts";

const INSTALLER = join(REPOSITORY, "install.sh");
const NAME = process.arch === "arm64" ? "faraday-linux-arm64" : "faraday-linux-x64";
/** Small, and all that the installer asks of it. */
const PROGRAM = "#!/bin/sh\necho 'faraday 9.9.9'\n";
const NOBODY = 65534;

const place = mkdtempSync(join(tmpdir(), "faraday-install-"));
chmodSync(place, 0o755);
afterAll(() => rmSync(place, { recursive: true, force: true }));

const sha256 = (bytes: Uint8Array | string): string =>
  new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

/** A release as scripts/release.ts lays it out, with one program for every machine. */
function release(name: string, program = PROGRAM): string {
  const folder = join(place, name);
  mkdirSync(folder, { recursive: true });
  const files: Readonly<Record<string, Uint8Array>> = {
    [NAME]: Buffer.from(program),
    [`${NAME}.gz`]: Bun.gzipSync(Buffer.from(program)),
  };
  for (const [file, bytes] of Object.entries(files)) writeFileSync(join(folder, file), bytes);
  const sums = Object.entries(files).map(([file, bytes]) => `${sha256(bytes)}  ${file}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
  return folder;
}

interface Installed {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function install(
  args: readonly string[],
  options: { readonly path?: string; readonly home?: string; readonly uid?: number } = {},
): Promise<Installed> {
  const env = { PATH: options.path ?? "/usr/bin:/bin", HOME: options.home ?? join(place, "home") };
  // Not spawnSync: the server of these tests is in this very process.
  const ran = Bun.spawn(["sh", INSTALLER, ...args], {
    env,
    cwd: place,
    stdout: "pipe",
    stderr: "pipe",
    ...(options.uid === undefined ? {} : { uid: options.uid }),
  });
  const [stdout, stderr] = [await ran.stdout.text(), await ran.stderr.text()];
  return { exit: await ran.exited, stdout, stderr };
}

/** A directory of commands in place of /usr/bin, with some left out or replaced. */
function commands(name: string, changes: Readonly<Record<string, string | null>>): string {
  const folder = join(place, name);
  mkdirSync(folder, { recursive: true });
  const usual = "awk cat chmod cp curl cut dirname gzip mkdir mktemp mv rm sh sha256sum uname wget";
  for (const command of usual.split(" ")) {
    const change = changes[command];
    if (change === null) continue;
    const target = Bun.which(command, { PATH: "/usr/bin:/bin" });
    const text = change ?? `#!/bin/sh\nexec ${target} "$@"\n`;
    if (target !== null || change !== undefined) {
      writeFileSync(join(folder, command), text, { mode: 0o755 });
    }
  }
  return folder;
}

function serve(folder: string): { readonly url: string; readonly stop: () => void } {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const file = Bun.file(join(folder, new URL(request.url).pathname));
      return (await file.exists()) ? new Response(file) : new Response("no", { status: 404 });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => void server.stop(true) };
}

/** What is left in a target directory, the temporary one of an installer included. */
const left = (prefix: string): readonly string[] => readdirSync(join(prefix, "bin"));

describe("install.sh", () => {
  test("installs from a directory to ~/.local/bin", async () => {
    const home = join(place, "home-a");
    const ran = await install(["--from", release("good")], { home });
    expect(ran).toMatchObject({ exit: 0, stderr: "" });
    expect(ran.stdout).toStartWith(`installed faraday 9.9.9 to ${home}/.local/bin/faraday\n`);
    expect(left(join(home, ".local"))).toEqual(["faraday"]);
    const started = Bun.spawnSync([join(home, ".local/bin/faraday"), "--version"]);
    expect(started.stdout.toString()).toBe("faraday 9.9.9\n");
  });

  test.each([
    { tool: "curl", path: () => commands("with-curl", { wget: null }) },
    { tool: "wget", path: () => commands("with-wget", { curl: null }) },
  ])("installs from an address with $tool", async ({ tool, path }) => {
    const { url, stop } = serve(release("served"));
    const prefix = join(place, `prefix-${tool}`);
    const ran = await install(["--from", `${url}/`, "--prefix", prefix], { path: path() });
    stop();
    expect(ran).toMatchObject({ exit: 0, stderr: "" });
    expect(readFileSync(join(prefix, "bin/faraday"), "utf8")).toBe(PROGRAM);
  });

  test.each([
    { what: "a changed byte", damage: (bytes: Buffer) => bytes.fill(0x20, bytes.length - 1) },
    { what: "a download cut short", damage: (bytes: Buffer) => bytes.subarray(0, 9) },
    { what: "an empty file", damage: () => Buffer.alloc(0) },
  ])("refuses $what, and leaves the old one in place", async ({ what, damage }) => {
    const folder = release(`bad-${what.replaceAll(" ", "-")}`);
    for (const file of [NAME, `${NAME}.gz`]) {
      writeFileSync(join(folder, file), damage(readFileSync(join(folder, file))));
    }
    const prefix = join(place, `prefix-${what.replaceAll(" ", "-")}`);
    mkdirSync(join(prefix, "bin"), { recursive: true });
    writeFileSync(join(prefix, "bin/faraday"), "the old one");
    const { url, stop } = serve(folder);
    for (const from of [folder, url]) {
      const ran = await install(["--from", from, "--prefix", prefix]);
      expect(ran.exit).toBe(1);
      expect(ran.stderr).toContain("is not what SHA256SUMS says");
      expect(ran.stdout).toBe("");
    }
    stop();
    expect(readFileSync(join(prefix, "bin/faraday"), "utf8")).toBe("the old one");
    expect(left(prefix)).toEqual(["faraday"]);
  });

  test("replaces an older one in one step", async () => {
    const prefix = join(place, "replaced");
    mkdirSync(join(prefix, "bin"), { recursive: true });
    writeFileSync(join(prefix, "bin/faraday"), "the old one");
    const ran = await install(["--from", release("new"), "--prefix", prefix]);
    expect(ran.exit).toBe(0);
    expect(readFileSync(join(prefix, "bin/faraday"), "utf8")).toBe(PROGRAM);
  });

  test.each([
    { machine: "riscv64", says: "there is no faraday for riscv64" },
    { machine: "i686", says: "there is no faraday for i686" },
    {
      machine: process.arch === "arm64" ? "x86_64" : "aarch64",
      says: "SHA256SUMS has no single sum",
    },
  ])("refuses a machine that the release is not for: $machine", async ({ machine, says }) => {
    const uname = `#!/bin/sh\n[ "$1" = -m ] && echo ${machine} || echo Linux\n`;
    const path = commands(`on-${machine}`, { uname });
    const prefix = join(place, `prefix-${machine}`);
    const ran = await install(["--from", release("good"), "--prefix", prefix], { path });
    expect(ran.exit).toBe(1);
    expect(ran.stderr).toContain(says);
    expect(existsSync(join(prefix, "bin/faraday"))).toBe(false);
  });

  test("refuses a program that does not run here", async () => {
    const prefix = join(place, "broken");
    const folder = release("not-runnable", "\x7fELF, but of no machine");
    const ran = await install(["--from", folder, "--prefix", prefix]);
    expect(ran.exit).toBe(1);
    expect(ran.stderr).toContain("does not run on this machine");
    expect(left(prefix)).toEqual([]);
  });

  test.if(process.getuid?.() === 0)("says that the prefix cannot be written", async () => {
    const prefix = join(place, "root-only");
    mkdirSync(join(prefix, "bin"), { recursive: true, mode: 0o755 });
    const ran = await install(["--from", release("good"), "--prefix", prefix], { uid: NOBODY });
    expect(ran.exit).toBe(1);
    expect(ran.stderr).toContain(`cannot write to ${prefix}/bin`);
    expect(ran.stderr).toContain("--prefix");
    expect(left(prefix)).toEqual([]);
  });

  test.each([
    { args: ["--from", "/nowhere"], exit: 1, says: "there is no SHA256SUMS at /nowhere" },
    { args: ["--from"], exit: 2, says: "usage:" },
    { args: ["--prefix", ""], exit: 2, says: "usage:" },
    { args: ["--force"], exit: 2, says: "usage:" },
  ])("$args ends with $exit", async ({ args, exit, says }) => {
    const ran = await install(args);
    expect(ran.exit).toBe(exit);
    expect(ran.stderr).toContain(says);
  });

  test("an address that answers 404 is no release", async () => {
    const { url, stop } = serve(join(place, "nothing-there"));
    const ran = await install(["--from", url, "--prefix", join(place, "prefix-404")]);
    stop();
    expect(ran.exit).toBe(1);
    expect(ran.stderr).toContain(`there is no SHA256SUMS at ${url}`);
  });
});
