import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { Workplace } from "../kernel/faraday-run.ts";
import { compileMarker, isX64, PYTHON } from "../kernel/test-programs.ts";

const place = new Workplace();
const marker = place.at("marker");
const program = place.at("program");

beforeAll(() => compileMarker(place, "program", marker));
afterAll(() => place[Symbol.dispose]());

/** Waits for the end of the supervisor, then tries to start something and writes the answers. */
const SURVIVOR = `
import ctypes, errno, os, select, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
supervisor = os.getppid()
pidfd = os.pidfd_open(supervisor)
detached, program, report = sys.argv[1] == "detached", sys.argv[2], sys.argv[3]
main = os.getpid()
if detached:
    if os.fork() != 0:
        signal.pause()
    os.setsid()
libc.prctl(1, 0, 0, 0, 0)
print(main, os.getpid(), flush=True)
select.select([pidfd], [], [])
lines = []
for path in (program, "/proc/self/exe"):
    try:
        os.execv(path, [path, "-c", "print()"])
    except OSError as error:
        lines.append(errno.errorcode[error.errno])
SECCOMP = ${isX64 ? 317 : 277}
libc.syscall(SECCOMP, 1, 8, 0)
lines.append(errno.errorcode[ctypes.get_errno()])
with open(report + ".new", "w") as file: file.write(" ".join(lines))
os.rename(report + ".new", report)
`;

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2000 && !condition(); turn++) await Bun.sleep(5);
  expect(condition()).toBe(true);
}

const isAlive = (pid: number): boolean => {
  try {
    return !/^\S+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
};

async function killSupervisor(how: "plain" | "detached", report: string): Promise<number[]> {
  const command = [PYTHON, "-c", SURVIVOR, how, program, report];
  const { words } = place.faradayWords(command);
  const child = Bun.spawn([...words], { cwd: place.path, stdout: "pipe", stderr: "ignore" });
  const reader = child.stdout.getReader();
  const line = new TextDecoder().decode((await reader.read()).value);
  process.kill(child.pid, "SIGKILL");
  await child.exited;
  return line.trim().split(" ").map(Number);
}

describe("when the supervisor is killed", () => {
  test("the command dies with it", async () => {
    const { words } = place.faradayWords(["sh", "-c", "echo $$; while :; do sleep 1; done"]);
    const child = Bun.spawn([...words], { stdout: "pipe", stderr: "ignore" });
    const reader = child.stdout.getReader();
    const pid = Number(new TextDecoder().decode((await reader.read()).value));
    expect(isAlive(pid)).toBe(true);
    process.kill(child.pid, "SIGKILL");
    await until(() => !isAlive(pid));
  });

  test("a detached child that lives on can start nothing and install no listener", async () => {
    const report = place.at("detached-report");
    const [main = 0] = await killSupervisor("detached", report);
    await until(() => existsSync(report));
    expect(readFileSync(report, "utf8")).toBe("ENOSYS ENOSYS EPERM");
    expect(existsSync(marker)).toBe(false);
    await until(() => !isAlive(main));
  });

  test("a command that cleared its death signal can start nothing either", async () => {
    const report = place.at("plain-report");
    const [pid = 0] = await killSupervisor("plain", report);
    await until(() => existsSync(report) || !isAlive(pid));
    if (existsSync(report)) expect(readFileSync(report, "utf8")).toBe("ENOSYS ENOSYS EPERM");
    expect(existsSync(marker)).toBe(false);
  });
});
