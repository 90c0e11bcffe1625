import type { Fd, Pid } from "../../ffi/abi/brand.ts";
import { PR_SET_CHILD_SUBREAPER } from "../../ffi/abi/process.ts";
import { sys } from "../../ffi/calls/libc.ts";
import { prctl, spawn } from "../../ffi/calls/process.ts";
import { socketPair } from "../../ffi/calls/socket.ts";

export interface Launcher {
  readonly pid: Pid;
  readonly socket: Fd;
}

const EMBEDDED = "/$bunfs/";

/**
 * Starts this binary again as the launcher stage. Its environment is empty: nothing that the
 * caller set can reach it. `socketFd` is a number that no kept descriptor has.
 */
export function spawnLauncher(entry: string, socketFd: number): Launcher {
  // Orphans of the agent come to us, so that we stay an ancestor of all (Yama) and can end them.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const [ours, theirs] = socketPair();
  const script = entry.startsWith(EMBEDDED) ? [] : [entry];
  const words = ["faraday", ...script, "__launcher", String(socketFd)];
  const pid = spawn({
    path: Buffer.from("/proc/self/exe"),
    argv: words.map((word) => Buffer.from(word)),
    environment: [],
    dup: [{ from: theirs, to: socketFd }],
  });
  sys("close", theirs);
  if (pid < 0) throw new Error(`cannot start the launcher: errno ${-pid}`);
  return { pid: pid as Pid, socket: ours };
}
