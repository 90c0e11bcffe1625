import { Errno } from "../../ffi/abi/errno.ts";
import type { Listener } from "../../ffi/calls/notify.ts";
import type { CallerReader } from "./caller.ts";

/** Position of the pid among a call's arguments. */
export type PidArgument = 0 | 1;

/**
 * Answers calls that change how another process is scheduled or limited. Their arguments are
 * values that nobody can change any more, so a call that is none of our business may go on.
 */
export function answerPeerCall(
  listener: Listener,
  callers: CallerReader,
  pidArgument: PidArgument,
): void {
  const { id } = listener;
  const target = listener.intArgument(pidArgument);
  const isOurs = target !== 0 && callers.status(target)?.tgid === process.pid;
  if (isOurs) listener.refuse(id, Errno.EPERM);
  else listener.proceed(id);
}
