import type { Fd } from "../../ffi/abi/brand.ts";
import { Errno } from "../../ffi/abi/errno.ts";
import { Listener } from "../../ffi/calls/notify.ts";
import type { BusyMark } from "./busy-mark.ts";

/**
 * Refuses a call whose verdict hangs: the Worker may be stuck in a file system that does not
 * answer. A turn counts as hanging when two looks in a row find it, so that time during which we
 * were stopped ourselves is not held against it.
 */
export function watchSupervisor(
  busy: BusyMark,
  timeoutMs: number,
  refused: () => void,
): ReturnType<typeof setInterval> {
  let seen = -1;
  return setInterval(
    () => {
      const current = busy.current();
      if (current === null || current.turn !== seen) {
        seen = current?.turn ?? -1;
        return;
      }
      if (new Listener(current.listener as Fd).refuse(current.id, Errno.EACCES)) refused();
    },
    Math.max(timeoutMs / 2, 50),
  );
}
