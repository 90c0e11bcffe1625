import { Errno } from "../../ffi/abi/errno.ts";
import type { Listener } from "../../ffi/calls/notify.ts";
import type { CallerReader } from "./caller.ts";

/** Position of the pid among a call's arguments. */
export type PidArgument = 0 | 1;

const ANCESTORS_MAX = 4096;

/**
 * Answers calls that change how another process is scheduled or limited: a limit can end it. Their
 * arguments are values that nobody can change any more, so a call may go on if its target is one
 * of the agent's own processes.
 */
export function answerPeerCall(
  listener: Listener,
  callers: CallerReader,
  pidArgument: PidArgument,
): void {
  const { id } = listener;
  const target = listener.intArgument(pidArgument);
  if (target === 0 || isInside(callers, target)) listener.proceed(id);
  else listener.refuse(id, Errno.EPERM);
}

/** What does not exist may be told so by the kernel. */
function isInside(callers: CallerReader, tid: number): boolean {
  return callers.status(tid) === null || descendsFromUs(callers, tid);
}

/** Everything that the agent started descends from us, and stays so: we are its reaper. */
export function descendsFromUs(callers: CallerReader, tid: number): boolean {
  const status = callers.status(tid);
  if (status === null || status.tgid === process.pid) return false;
  let at = status.ppid;
  for (let step = 0; step < ANCESTORS_MAX && at > 1; step++) {
    if (at === process.pid) return true;
    at = callers.status(at)?.ppid ?? 0;
  }
  return false;
}
