import type { Fd, Pid } from "../../ffi/abi/brand.ts";
import { F_DUPFD_CLOEXEC } from "../../ffi/abi/file.ts";
import { PR_SET_CHILD_SUBREAPER } from "../../ffi/abi/process.ts";
import { openSpawnLibc, sys } from "../../ffi/calls/libc.ts";
import {
  CHILD_EVENTS_FD,
  catchChildEvents,
  isOpenDescriptor,
  prctl,
  spawn,
} from "../../ffi/calls/process.ts";
import { socketPair } from "../../ffi/calls/socket.ts";

export interface Launcher {
  readonly pid: Pid;
  readonly socket: Fd;
  /** Readable after any child or tracee changed its state. */
  readonly childEvents: Fd;
  /** Whether SIGCHLD was ignored before we needed it ourselves. */
  readonly ignoredChildren: boolean;
}

const EMBEDDED = "/$bunfs/";

/**
 * The launcher runs each line once, so to compile any is time lost: a sixth of its start. (It does
 * not hand this on: the command's environment comes with the plan.)
 */
const LAUNCHER_ENVIRONMENT = [
  "BUN_JSC_useConcurrentJIT=0",
  "BUN_JSC_thresholdForJITAfterWarmUp=100000",
  "BUN_JSC_thresholdForJITSoon=100000",
] as const;

/**
 * Starts this binary again as the launcher stage. Its environment is its own: nothing that the
 * caller set can reach it. `entry` is the script of a development run.
 */
export function spawnLauncher(entry: string, keepFds: readonly number[]): Launcher {
  // Orphans of the agent come to us, so that we stay an ancestor of all (Yama) and can end them.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const kept = keptDescriptors(keepFds);
  const libc = openSpawnLibc();
  const childEvents = catchChildEvents(libc);
  const [ours, theirs] = socketPair();
  const socketFd = lowestUnkept(keepFds);
  const script = entry.startsWith(EMBEDDED) ? [] : [entry];
  const words = ["faraday", ...script, "__launcher", String(socketFd)];
  const pid = spawn(libc, {
    path: Buffer.from("/proc/self/exe"),
    argv: words.map((word) => Buffer.from(word)),
    environment: LAUNCHER_ENVIRONMENT.map((variable) => Buffer.from(variable)),
    dup: [{ from: theirs, to: socketFd }, ...kept],
  });
  sys("close", theirs);
  if (pid < 0) throw new Error(`cannot start the launcher: errno ${-pid}`);
  return {
    pid: pid as Pid,
    socket: ours,
    childEvents: childEvents.fd,
    ignoredChildren: childEvents.wasIgnored,
  };
}

/**
 * The runtime marks every descriptor that it inherits close-on-exec, so kept ones are put in place
 * anew. The one whose number we need ourselves is moved out of the way first. Those that are not
 * open are reported later, with everything else that is wrong.
 */
function keptDescriptors(keepFds: readonly number[]): { from: Fd; to: number }[] {
  const open = keepFds.filter((fd) => isOpenDescriptor(fd));
  return open.map((fd) => {
    if (fd !== CHILD_EVENTS_FD) return { from: fd as Fd, to: fd };
    return { from: sys("fcntl", fd, F_DUPFD_CLOEXEC, CHILD_EVENTS_FD + 1) as Fd, to: fd };
  });
}

function lowestUnkept(keepFds: readonly number[]): number {
  let fd = 3;
  while (keepFds.includes(fd)) fd++;
  return fd;
}
