import type { Fd, Pid } from "../../ffi/abi/brand.ts";
import { F_DUPFD_CLOEXEC, F_GETFD } from "../../ffi/abi/file.ts";
import { PR_SET_CHILD_SUBREAPER } from "../../ffi/abi/process.ts";
import { openSpawnLibc, sys } from "../../ffi/calls/libc.ts";
import { CHILD_EVENTS_FD, catchChildEvents, prctl, spawn } from "../../ffi/calls/process.ts";
import { socketPair } from "../../ffi/calls/socket.ts";

export interface Launcher {
  readonly pid: Pid;
  readonly socket: Fd;
  /** Readable after any child or tracee changed its state. */
  readonly childEvents: Fd;
}

const EMBEDDED = "/$bunfs/";

/**
 * Starts this binary again as the launcher stage. Its environment is empty: nothing that the
 * caller set can reach it. `entry` is the script of a development run.
 */
export function spawnLauncher(entry: string, keepFds: readonly number[]): Launcher {
  // Orphans of the agent come to us, so that we stay an ancestor of all (Yama) and can end them.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const moved = moveOutOfTheWay(keepFds);
  const libc = openSpawnLibc();
  const childEvents = catchChildEvents(libc);
  const [ours, theirs] = socketPair();
  const socketFd = lowestUnkept(keepFds);
  const script = entry.startsWith(EMBEDDED) ? [] : [entry];
  const words = ["faraday", ...script, "__launcher", String(socketFd)];
  const pid = spawn(libc, {
    path: Buffer.from("/proc/self/exe"),
    argv: words.map((word) => Buffer.from(word)),
    environment: [],
    dup: [{ from: theirs, to: socketFd }, ...moved],
  });
  sys("close", theirs);
  if (pid < 0) throw new Error(`cannot start the launcher: errno ${-pid}`);
  return { pid: pid as Pid, socket: ours, childEvents };
}

/** A descriptor that the user wants kept under the one number that we need ourselves. */
function moveOutOfTheWay(keepFds: readonly number[]): { from: Fd; to: number }[] {
  if (!keepFds.includes(CHILD_EVENTS_FD) || sys("fcntl", CHILD_EVENTS_FD, F_GETFD) < 0) return [];
  const from = sys("fcntl", CHILD_EVENTS_FD, F_DUPFD_CLOEXEC, CHILD_EVENTS_FD + 1) as Fd;
  return [{ from, to: CHILD_EVENTS_FD }];
}

function lowestUnkept(keepFds: readonly number[]): number {
  let fd = 3;
  while (keepFds.includes(fd)) fd++;
  return fd;
}
