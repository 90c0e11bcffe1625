import { existsSync } from "node:fs";
import { ATTEMPT_CALLS } from "../../ffi/abi/attempt-calls.ts";
import { errnoName } from "../../ffi/abi/errno.ts";
import { AT_EMPTY_PATH, AT_FDCWD, O_PATH, O_RDONLY } from "../../ffi/abi/file.ts";
import { FileCalls } from "../../ffi/calls/file.ts";
import { ARCH, KernelBuffer, stringVector, sys, sysByNumber } from "../../ffi/calls/libc.ts";
import { readWholeFile } from "../../ffi/calls/whole-file.ts";
import { LOADER_PATHS } from "../supervise/dynamic-loader.ts";
import { type Attempt, type Ground, work } from "./selftest-attempts.ts";
import { Children, ownWords } from "./selftest-child.ts";

const PROGRAM_BYTES_MAX = 16 * 1024 * 1024;
const REFUSED = 77;
const KILLED = 128 + 9;
const RACE_ROUNDS = 40;
const RACE_WAIT_MAX = 2000;

const refusals = ["EACCES", "EPERM"];
const exec = (
  id: string,
  title: string,
  make: (ground: Ground, children: Children) => string,
): Attempt => ({
  id: `exec-${id}`,
  area: "exec",
  title,
  kind: "escape",
  refusals,
  controls: ["OK"],
  make: (ground) => make(ground, new Children()),
});

const cstring = (text: string): KernelBuffer => KernelBuffer.cstring(Buffer.from(text));
/** The programs are copies of test(1), which this makes end well. */
const NAME = ["test", "x"];
/** And this only if the one that runs is the denied one. */
const asksWhoRuns = (bin: string): string[] => [
  "test",
  "/proc/self/exe",
  "-ef",
  `${bin}/denied/test`,
];

export const EXEC_ATTEMPTS: readonly Attempt[] = [
  work("exec", "exec", "start a program that is allowed", ({ bin }) =>
    new Children().run(`${bin}/allowed/test`, NAME),
  ),
  exec("path", "a denied program, by its path", ({ bin }, it) =>
    it.run(`${bin}/denied/test`, NAME),
  ),
  exec("relative", "the same, by a relative path with `..`", ({ bin, work }, it) => {
    process.chdir(work);
    return it.run(`../work/../${bin.slice(bin.lastIndexOf("/") + 1)}/denied/test`, NAME);
  }),
  exec("shell", "the same, from a shell", ({ bin }, it) =>
    shellAnswer(it.run("/bin/sh", ["sh", "-c", `exec ${bin}/denied/test x 2>/dev/null`])),
  ),
  exec("symlink", "the same, through a symbolic link", ({ work }, it) =>
    it.run(`${work}/symlink`, NAME),
  ),
  exec("hardlink", "the same, by a hard link", ({ work }, it) =>
    existsSync(`${work}/hardlink`) ? it.run(`${work}/hardlink`, NAME) : "n/a: no hard links here",
  ),
  exec("proc-fd", "the same, through /proc/self/fd", ({ bin }, it) => {
    const fd = new FileCalls().open(`${bin}/denied/test`, O_PATH);
    return it.run(`/proc/self/fd/${fd}`, NAME);
  }),
  exec("execveat", "the same, with execveat and an empty path", ({ bin }, it) =>
    ownAnswer(it.start("/proc/self/exe", ownWords("execveat", `${bin}/denied/test`)), it),
  ),
  exec("memfd", "a copy of it in memory (memfd)", memfd),
  exec("deleted", "a program whose file is deleted", ({ free }, it) => {
    const files = new FileCalls();
    const fd = files.open(`${free}/deleted`, O_RDONLY);
    const name = cstring(`${free}/deleted`);
    const removed = sysByNumber(ATTEMPT_CALLS[ARCH].unlinkat, AT_FDCWD, name.address, 0);
    if (removed < 0) return `failed: the file could not be removed: ${errnoName(-removed)}`;
    return it.run(`/proc/self/fd/${fd}`, NAME);
  }),
  exec("loader", "the denied program, given to the dynamic loader", ({ bin }, it) => {
    const loader = LOADER_PATHS.find((path) => existsSync(path));
    if (loader === undefined) return "n/a: no dynamic loader here";
    return it.run(loader, [loader, `${bin}/denied/test`, "x"]);
  }),
  exec("interpreter", "a script whose #! line names the denied program", ({ work }, it) =>
    it.run(`${work}/script`, ["test"]),
  ),
  exec("race-memory", "its path, swapped in memory while it is judged", memoryRace),
  exec("race-link", "a link, swapped while it is judged", linkRace),
];

function shellAnswer(result: string): string {
  return result === "exit 126" || result === "exit 127" ? "EACCES" : result;
}

/** A child that makes the call itself: it becomes the program, or says why not. */
function ownAnswer(pid: number, it: Children): string {
  if (pid < 0) return errnoName(-pid);
  const exit = it.wait(pid);
  return exit === 0 ? "OK" : exit === REFUSED || exit === KILLED ? "EACCES" : `exit ${exit}`;
}

function memfd({ bin }: Ground, it: Children): string {
  const program = readWholeFile(`${bin}/allowed/test`, PROGRAM_BYTES_MAX);
  if (typeof program === "number") return errnoName(-program);
  const fd = sys("memfd_create", cstring("selftest").address, 0);
  if (fd < 0) return errnoName(-fd);
  const content = KernelBuffer.of(program.bytes);
  if (sys("write", fd, content.address, program.bytes.length) !== program.bytes.length)
    return "EIO";
  return it.run(`/proc/self/fd/${fd}`, NAME);
}

/** In a child: becomes the program through an empty path. */
export function execveatStage(path: string): number {
  const fd = new FileCalls().open(path, O_PATH);
  const argv = stringVector(NAME.map((word) => Buffer.from(word)));
  const none = stringVector([]);
  const empty = cstring("");
  const { execveat } = ATTEMPT_CALLS[ARCH];
  sysByNumber(execveat, fd, empty.address, argv.address, none.address, AT_EMPTY_PATH);
  return REFUSED;
}

/**
 * A child starts programs by a path in its memory, and this process, which may write there as its
 * parent, swaps that path for the denied one and back all the while.
 */
function memoryRace({ bin, free }: Ground, it: Children): string {
  const note = `${free}/race-address`;
  const [good, bad] = [`${bin}/allowed/test`, `${bin}/denied/test`];
  const pid = it.start("/proc/self/exe", ownWords("race-caller", note, bin));
  if (pid < 0) return errnoName(-pid);
  const address = readNote(note);
  if (address === null) {
    sys("kill", pid, 9);
    it.wait(pid);
    return "failed: the racing process did not start";
  }
  const paths = [cstring(good), cstring(bad)] as const;
  const local = new KernelBuffer(16);
  const remote = new KernelBuffer(16);
  remote.setU64(0, address);
  const { process_vm_writev } = ATTEMPT_CALLS[ARCH];
  let exit = it.wait(pid, { blocks: false });
  for (let turn = 0; exit === null; turn++) {
    const path = paths[turn & 1] ?? paths[0];
    local.setU64(0, path.address);
    local.setU64(8, path.bytes.length);
    remote.setU64(8, path.bytes.length);
    sysByNumber(process_vm_writev, pid, local.address, 1, remote.address, 1, 0);
    if ((turn & 63) === 0) exit = it.wait(pid, { blocks: false });
  }
  return exit === 0 ? "OK" : "EACCES";
}

function readNote(note: string): number | null {
  for (let tries = 0; tries < RACE_WAIT_MAX; tries++) {
    const file = readWholeFile(note, 64);
    const found = typeof file === "number" ? null : /^(\d+)\n$/.exec(file.bytes.toString("latin1"));
    if (found !== null) return Number(found[1]);
    Bun.sleepSync(1);
  }
  return null;
}

/** In a child: says where its path is, and starts what it finds there again and again. */
export function raceCallerStage(note: string, bin: string): number {
  const path = new KernelBuffer(bin.length + 64);
  path.cstring(`${bin}/allowed/test`);
  const children = new Children();
  const fd = new FileCalls().open(note, 0o101, AT_FDCWD, 0o600);
  const text = cstring(`${path.address}\n`);
  sys("write", fd, text.address, text.bytes.length - 1);
  for (let round = 0; round < RACE_ROUNDS; round++) {
    const pid = children.start({ address: path.address }, asksWhoRuns(bin));
    if (pid > 0 && children.wait(pid) === 0) return 0;
  }
  return REFUSED;
}

/** Another process swaps a link for one to the denied program and back all the while. */
function linkRace({ bin, free }: Ground, it: Children): string {
  const link = `${free}/race-link`;
  const words = ownWords("race-flipper", link, `${bin}/allowed/test`, `${bin}/denied/test`);
  const flipper = it.start("/proc/self/exe", words);
  if (flipper < 0) return errnoName(-flipper);
  let answer = "EACCES";
  for (let tries = 0; tries < RACE_WAIT_MAX && !existsSync(link); tries++) Bun.sleepSync(1);
  if (!existsSync(link)) answer = "failed: the link could not be made";
  for (let round = 0; round < RACE_ROUNDS && answer === "EACCES"; round++) {
    const pid = it.start(link, asksWhoRuns(bin));
    if (pid > 0 && it.wait(pid) === 0) answer = "OK";
  }
  sys("kill", flipper, 9);
  it.wait(flipper);
  return answer;
}

/** In a child: flips the link until it is killed, or its parent is gone. */
export function raceFlipperStage(link: string, good: string, bad: string): number {
  const { symlinkat, renameat2 } = ATTEMPT_CALLS[ARCH];
  const parent = sys("getppid");
  const fresh = cstring(`${link}.new`);
  const name = cstring(link);
  const targets = [cstring(good), cstring(bad)] as const;
  for (let turn = 0; (turn & 255) !== 0 || sys("getppid") === parent; turn++) {
    const target = targets[turn & 1] ?? targets[0];
    sysByNumber(symlinkat, target.address, AT_FDCWD, fresh.address);
    sysByNumber(renameat2, AT_FDCWD, fresh.address, AT_FDCWD, name.address, 0);
  }
  return 0;
}
