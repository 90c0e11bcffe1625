import type { Fd } from "../../ffi/abi/brand.ts";
import { Errno, errnoName } from "../../ffi/abi/errno.ts";
import { AT_FDCWD, F_SETFD, FD_CLOEXEC, O_PATH, RESOLVE_NO_SYMLINKS } from "../../ffi/abi/file.ts";
import { PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, Signal } from "../../ffi/abi/process.ts";
import { FileCalls } from "../../ffi/calls/file.ts";
import { installFilter } from "../../ffi/calls/filter.ts";
import { allowPort, createRuleset, PathRules, restrictSelf } from "../../ffi/calls/landlock.ts";
import { sys } from "../../ffi/calls/libc.ts";
import {
  closeOtherDescriptors,
  dropCapabilities,
  execve,
  exitNow,
  keepAcrossExec,
  prctl,
  setSignalDispositions,
  setSignalMask,
} from "../../ffi/calls/process.ts";
import { readExactly, sendDescriptor, writeAll } from "../../ffi/calls/socket.ts";
import type { LandlockPlan, LaunchPlan } from "../plan/launch-plan.ts";
import {
  frame,
  readFrame,
  TAG_EXEC_FAILED,
  TAG_FAILED,
  TAG_GO,
  TAG_LISTENER,
} from "./launch-protocol.ts";

/** Nobody reads this code: the supervisor knows more from the socket, or is dead. */
const EXIT_GIVEN_UP = 125;

const bytes = (text: string): Buffer => Buffer.from(text, "latin1");

/** A step that the kernel refused. */
class StepError extends Error {}

function must(result: number, step: string): number {
  if (result < 0) throw new StepError(`${step}: ${errnoName(-result)}`);
  return result;
}

/**
 * The second stage of `run`: a fresh process of this binary, with an environment of its own, that
 * takes the plan from its socket, seals itself, and becomes the command.
 */
export function runLauncher(): never {
  const socket = Number(process.argv[3]) as Fd;
  if (!Number.isInteger(socket) || socket < 3) exitNow(EXIT_GIVEN_UP);
  sys("fcntl", socket, F_SETFD, FD_CLOEXEC);
  const text = readFrame((length) => readExactly(socket, length));
  // The supervisor ended before it had a plan: a broken policy, or a signal.
  if (text === null) exitNow(EXIT_GIVEN_UP);
  const plan = JSON.parse(text.toString("utf8")) as LaunchPlan;
  try {
    prepare(plan, socket);
    const listener = seal(plan);
    must(sendDescriptor(socket, TAG_LISTENER, listener), "send the listener");
    sys("close", listener);
    if (readExactly(socket, 1)?.[0] !== TAG_GO) exitNow(EXIT_GIVEN_UP);
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    writeAll(socket, Buffer.concat([Buffer.from([TAG_FAILED]), frame(Buffer.from(error.message))]));
    exitNow(EXIT_GIVEN_UP);
  }
  const failure = execute(plan);
  const report = Buffer.alloc(5);
  report[0] = TAG_EXEC_FAILED;
  report.writeInt32LE(-failure, 1);
  writeAll(socket, report);
  exitNow(EXIT_GIVEN_UP);
}

/** Undoes what the runtime changed, so that the command finds what it would find without us. */
function prepare(plan: LaunchPlan, socket: Fd): void {
  must(prctl(PR_SET_PDEATHSIG, Signal.KILL), "PR_SET_PDEATHSIG");
  // It may have died before the line above; then nobody would tell us.
  if (sys("getppid") !== plan.supervisorPid) exitNow(EXIT_GIVEN_UP);
  closeOtherDescriptors([...plan.keepFds, socket]);
  for (const fd of plan.keepFds) must(keepAcrossExec(fd), `keep descriptor ${fd}`);
  setSignalDispositions(new Set(plan.ignoredSignals));
  must(setSignalMask(plan.signalMaskHex), "signal mask");
}

/** From here on nothing can be taken back. */
function seal(plan: LaunchPlan): Fd {
  must(prctl(PR_SET_NO_NEW_PRIVS, 1), "PR_SET_NO_NEW_PRIVS");
  if (plan.dropCapabilities.length > 0) {
    must(dropCapabilities(plan.dropCapabilities), "drop capabilities");
  }
  if (plan.landlock !== null) enterDomain(plan.landlock);
  return must(installFilter(bytes(plan.filter)), "install the system call filter") as Fd;
}

function enterDomain(landlock: LandlockPlan): void {
  const ruleset = must(createRuleset(landlock), "create a Landlock ruleset") as Fd;
  const files = new FileCalls();
  const rules = new PathRules(ruleset);
  for (const grant of landlock.grants) {
    // The plan has real paths. A link there now was put there since, and must not be followed.
    const opened = files.openResolving(grant.path, O_PATH, RESOLVE_NO_SYMLINKS, AT_FDCWD);
    // What is gone since the plan was made needs no grant.
    if (opened === -Errno.ENOENT) continue;
    const parent = must(opened, `open ${grant.path}`) as Fd;
    must(rules.allowBeneath(parent, grant.access), `grant ${grant.path}`);
    files.close(parent);
  }
  for (const { port, access } of landlock.ports) {
    must(allowPort(ruleset, port, access), `grant port ${port}`);
  }
  must(restrictSelf(ruleset), "enter the Landlock domain");
  files.close(ruleset);
}

function execute(plan: LaunchPlan): number {
  const path = bytes(plan.path);
  const argv = plan.argv.map(bytes);
  const environment = plan.environment.map(bytes);
  const failure = execve(path, argv, environment);
  if (failure !== -Errno.ENOEXEC) return failure;
  // A script without `#!` is a shell script, as execvp has it.
  return execve(bytes("/bin/sh"), [bytes("sh"), path, ...argv.slice(1)], environment);
}
