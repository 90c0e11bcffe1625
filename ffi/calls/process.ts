import type { Fd, Pid } from "../abi/brand.ts";
import { F_GETFD, F_SETFD, O_CLOEXEC, O_NONBLOCK } from "../abi/file.ts";
import {
  CAP_VERSION_3,
  CapData,
  CapHeader,
  KernelSigaction,
  PR_CAP_AMBIENT,
  PR_CAP_AMBIENT_CLEAR_ALL,
  PR_CAPBSET_DROP,
  RLIMIT_NOFILE,
  Rlimit64,
  SA_RESTART,
  SA_SIGINFO,
  SIG_DFL,
  SIG_IGN,
  SIG_SETMASK,
  SIGACTION_BYTES,
  SIGACTION_FLAGS_AT,
  SIGNAL_MAX,
  Signal,
  SPAWN_ACTIONS_BYTES,
} from "../abi/process.ts";
import { KernelBuffer, type SpawnLibc, stringVector, sys } from "./libc.ts";

export function prctl(option: number, a = 0, b = 0): number {
  return sys("prctl", option, a, b, 0, 0);
}

export function kill(pid: number, signal: number): number {
  return sys("kill", pid, signal);
}

/** Ends the process at once. An exit handler would reset the terminal's modes. */
export function exitNow(code: number): never {
  sys("exit_group", code);
  throw new Error("exit_group returned");
}

/**
 * Sets all dispositions to SIG_DFL, or SIG_IGN for these. KILL, STOP and the C library's own two
 * cannot be set; none of them is ever changed.
 */
export function setSignalDispositions(ignored: ReadonlySet<number>): void {
  const action = new KernelBuffer(KernelSigaction.size);
  for (let signal = 1; signal <= SIGNAL_MAX; signal++) {
    action.setU64(KernelSigaction.at.handler, ignored.has(signal) ? SIG_IGN : SIG_DFL);
    sys("rt_sigaction", signal, action.address, 0, 8);
  }
}

/** The descriptor of child events has to have this number; see `catchChildEvents`. */
export const CHILD_EVENTS_FD = Signal.CHLD;

/**
 * Turns SIGCHLD into something that can be polled, whichever thread it hits. A handler cannot be
 * JavaScript, but it can be eventfd_write(fd, value) itself: the kernel calls it with the signal's
 * number first, so an eventfd of that very number gets written.
 */
export function catchChildEvents(libc: SpawnLibc): { fd: Fd; wasIgnored: boolean } {
  const event = sys("eventfd2", 0, O_CLOEXEC | O_NONBLOCK);
  if (event < 0) throw new Error(`eventfd: errno ${-event}`);
  if (event !== CHILD_EVENTS_FD) {
    const moved = sys("dup3", event, CHILD_EVENTS_FD, O_CLOEXEC);
    if (moved < 0) throw new Error(`dup3: errno ${-moved}`);
    sys("close", event);
  }
  const action = new KernelBuffer(SIGACTION_BYTES);
  action.setU64(0, libc.eventWriterAddress);
  action.view.setInt32(SIGACTION_FLAGS_AT, SA_RESTART | SA_SIGINFO, true);
  const former = new KernelBuffer(SIGACTION_BYTES);
  libc.sigaction(Signal.CHLD, action.address, former.address);
  return { fd: CHILD_EVENTS_FD as Fd, wasIgnored: former.u64(0) === SIG_IGN };
}

/** The mask's hexadecimal form is the one of /proc/self/status. */
export function setSignalMask(maskHex: string): number {
  const mask = new KernelBuffer(8);
  mask.view.setBigUint64(0, BigInt(`0x${maskHex}`), true);
  return sys("rt_sigprocmask", SIG_SETMASK, mask.address, 0, 8);
}

/** Raises the soft limit of open files to the hard one, for this process alone. */
export function raiseOpenFilesLimit(): void {
  const limit = new KernelBuffer(Rlimit64.size);
  if (sys("prlimit64", 0, RLIMIT_NOFILE, 0, limit.address) < 0) return;
  const { at } = Rlimit64;
  limit.view.setBigUint64(at.current, limit.view.getBigUint64(at.maximum, true), true);
  sys("prlimit64", 0, RLIMIT_NOFILE, limit.address, 0);
}

/** Drops capabilities from every set of the calling thread; those it does not hold are no error. */
export function dropCapabilities(numbers: readonly number[]): number {
  const header = new KernelBuffer(CapHeader.size);
  const data = new KernelBuffer(CapData.size * 2);
  header.view.setUint32(CapHeader.at.version, CAP_VERSION_3, true);
  const got = sys("capget", header.address, data.address);
  if (got < 0) return got;
  // Fails without CAP_SETPCAP, and then there is nothing in the bounding set that could be gained:
  // no_new_privs stops file capabilities.
  for (const number of numbers) prctl(PR_CAPBSET_DROP, number);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
  for (const number of numbers) {
    const word = number >> 5;
    const keep = ~(1 << (number & 31)) >>> 0;
    for (const field of [CapData.at.effective, CapData.at.permitted, CapData.at.inheritable]) {
      const at = word * CapData.size + field;
      data.view.setUint32(at, (data.view.getUint32(at, true) & keep) >>> 0, true);
    }
  }
  return sys("capset", header.address, data.address);
}

export interface SpawnRequest {
  /** Or the address of one that is in memory already. */
  readonly path: Uint8Array | { readonly address: number };
  readonly argv: readonly Uint8Array[];
  readonly environment: readonly Uint8Array[];
  /** Descriptors put in place in the child, which also clears close-on-exec. */
  readonly dup: readonly { readonly from: Fd; readonly to: number }[];
}

/** posix_spawn: safe in a process that has threads, where fork is not. */
export function spawn(libc: SpawnLibc, request: SpawnRequest): Pid | number {
  const actions = new KernelBuffer(SPAWN_ACTIONS_BYTES);
  const pid = new KernelBuffer(4);
  const path =
    request.path instanceof Uint8Array ? KernelBuffer.cstring(request.path) : request.path;
  const argv = stringVector(request.argv);
  const environment = stringVector(request.environment);
  libc.posix_spawn_file_actions_init(actions.address);
  for (const { from, to } of request.dup) {
    libc.posix_spawn_file_actions_adddup2(actions.address, from, to);
  }
  const failed = libc.posix_spawn(
    pid.address,
    path.address,
    actions.address,
    0,
    argv.address,
    environment.address,
  );
  libc.posix_spawn_file_actions_destroy(actions.address);
  return failed === 0 ? (pid.view.getInt32(0, true) as Pid) : -failed;
}

/** Replaces this process; returns the negated errno if that failed. */
export function execve(
  path: Uint8Array,
  argv: readonly Uint8Array[],
  environment: readonly Uint8Array[],
): number {
  const pathBuffer = KernelBuffer.cstring(path);
  const argvBuffer = stringVector(argv);
  const environmentBuffer = stringVector(environment);
  return sys("execve", pathBuffer.address, argvBuffer.address, environmentBuffer.address);
}

export function isOpenDescriptor(fd: number): boolean {
  return sys("fcntl", fd, F_GETFD) >= 0;
}

/** Hands a descriptor on to the next program. */
export function keepAcrossExec(fd: number): number {
  return sys("fcntl", fd, F_SETFD, 0);
}

/** Closes every descriptor from 3 up that is not in `keep`, now. */
export function closeOtherDescriptors(keep: readonly number[]): void {
  let from = 3;
  for (const fd of [...keep].sort((a, b) => a - b)) {
    if (fd > from) sys("close_range", from, fd - 1, 0);
    from = Math.max(from, fd + 1);
  }
  sys("close_range", from, 0xffff_ffff, 0);
}
