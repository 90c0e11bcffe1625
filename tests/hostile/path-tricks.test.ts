import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { EXEC_CALLER_SOURCE } from "../kernel/exec-caller-source.ts";
import { Workplace } from "../kernel/faraday-run.ts";
import {
  allowBut,
  compile,
  compileMarker,
  denyBut,
  exe,
  LOADER,
  PYTHON,
  script,
} from "../kernel/test-programs.ts";

const place = new Workplace();
const marker = place.at("marker");
const caller = place.at("caller");
const denied = place.at("denied");

beforeAll(async () => {
  await compile(place, "caller", EXEC_CALLER_SOURCE, ["-pthread"]);
  await compileMarker(place, "denied", marker);
  // From a/b/c three steps up is the workplace, where the agent made a usr/bin of its own.
  mkdirSync(place.at("a/b/c/d/e/f"), { recursive: true });
  mkdirSync(place.at("usr/bin"), { recursive: true });
  copyFileSync(denied, place.at("usr/bin/true"));
  symlinkSync(place.at("a/b/c"), place.at("up"));
  symlinkSync(place.at("a/b/c/d/e/f"), place.at("deep"));
});
afterAll(() => place[Symbol.dispose]());

describe("no spelling makes a planted program pass for /usr/bin/true", () => {
  /** As many steps up as lead from /proc/self/cwd, or from a link of the agent's, to the root. */
  const steps = (count: number): string => "../".repeat(count);
  const depth = place.path.split("/").length;
  const spellings = (): readonly (readonly [name: string, cwd: string, path: string])[] => [
    ["/proc/self/cwd", place.at("a/b/c"), `/proc/self/cwd/${steps(3)}usr/bin/true`],
    ["a link", place.path, `${place.at("up")}/${steps(3)}usr/bin/true`],
    ["a relative link", place.path, `up/${steps(3)}usr/bin/true`],
    ["/proc/self/fd", place.at("a/b/c"), `/proc/self/fd/0/${steps(3)}usr/bin/true`],
    ["deep", place.path, `${place.at("deep")}/${steps(6)}usr/bin/true`],
    [
      "as many steps as the text has parts",
      place.path,
      `${place.at("deep")}/${"./".repeat(depth)}${steps(6)}usr/bin/true`,
    ],
  ];

  test("under default deny", async () => {
    const policy = denyBut(exe("/usr/bin/true", "/bin/true"), exe(caller));
    for (const [name, cwd, path] of spellings()) {
      const command = ["sh", "-c", `exec "$0" execve "$1" < ${place.at("a/b/c")}`, caller, path];
      const bare = await place.bare(command, { cwd });
      if (name !== "as many steps as the text has parts") {
        expect([name, bare.stdout]).toEqual([name, "denied ran word\n"]);
      }
      rmSync(marker, { force: true });
      const shells = 'exe_basename = ["sh", "dash", "bash"]';
      const shell = `${policy}\n[[rule]]\nid = "sh"\naction = "allow"\n${shells}\n`;
      const kept = await place.faraday(command, { cwd, policy: shell });
      expect([name, kept.stdout]).toEqual([name, "EACCES\n"]);
      expect(existsSync(marker)).toBe(false);
    }
    const good = await place.faraday([caller, "execve", "/usr/bin/../bin/true"], { policy });
    expect(good.exit).toBe(0);
  });

  test("nor as an interpreter or a loader's program", async () => {
    const path = `${place.at("up")}/${steps(3)}usr/bin/true`;
    const planted = script(place, "planted", `#!${path}\n`);
    const policy = denyBut(exe("/usr/bin/true", "/bin/true", planted, LOADER), exe(caller));
    expect((await place.faraday([caller, "execve", planted], { policy })).stdout).toBe("EACCES\n");
    expect((await place.faraday([LOADER, path], { policy })).exit).toBe(126);
    expect(existsSync(marker)).toBe(false);
    expect((await place.faraday([LOADER, "/usr/bin/true"], { policy })).exit).toBe(0);
  });
});

describe("files of every kind", () => {
  const policy = allowBut(exe(denied));
  const after = (path: string): string[] => [
    "sh",
    "-c",
    `${caller} execve ${path}; /bin/echo after`,
  ];

  test("a FIFO holds nothing up", async () => {
    await place.bare(["sh", "-c", "mkfifo fifo && chmod +x fifo"]);
    const kept = await place.faraday(after("./fifo"), { policy });
    expect([kept.stdout, kept.exit]).toEqual(["EACCES\nafter\n", 0]);
  });

  test("a device and a socket are no programs", async () => {
    const make = `import socket; s = socket.socket(socket.AF_UNIX); s.bind("socket")`;
    await place.bare([PYTHON, "-c", make]);
    for (const path of ["/dev/null", "/dev/tty", "./socket"]) {
      const kept = await place.faraday(after(path), { policy });
      expect([path, kept.stdout]).toEqual([path, "EACCES\nafter\n"]);
    }
  });

  test("a leased file holds up nobody but its caller", async () => {
    copyFileSync("/bin/true", place.at("leased"));
    // The caller waits for the lease to be broken; others must be served in the meantime.
    const lease = `import fcntl, os, signal, subprocess, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
fd = os.open("leased", os.O_RDWR)
os.chmod("leased", 0o755)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
child = os.fork()
if child == 0:
    os.execv("./leased", ["leased"])
for _ in range(10):
    subprocess.run(["/bin/true"], check=True)
print("served", flush=True)
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)`;
    const kept = await place.faraday([PYTHON, "-c", lease], { policy });
    expect([kept.stdout, kept.stderr]).toEqual(["served\n", ""]);
  });

  test.each([
    "new\nline",
    "tab\there",
    "back\\slash",
    "\\012",
    "quote'\"",
    " (deleted)",
    "\x1b[2J",
  ])("a program called %j runs, and is denied by its name", async (name) => {
    copyFileSync("/bin/true", place.at(name));
    const path = place.at(name);
    expect((await place.faraday([path], { policy })).exit).toBe(0);
    const named = allowBut(exe(path));
    const bad = await place.faraday([path], { policy: named });
    expect(bad.exit).toBe(126);
    expect(bad.stderr).not.toContain("\x1b");
    rmSync(path);
  });
});
