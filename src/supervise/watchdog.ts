import type { Fd } from "../../ffi/abi/brand.ts";
import { Errno } from "../../ffi/abi/errno.ts";
import { Listener } from "../../ffi/calls/notify.ts";
import type { BusyMark } from "./busy-mark.ts";

export interface WatchdogEvents {
  /** A call of this thread was refused, because its verdict did not come. */
  readonly refused: (tid: number) => void;
  /** The Worker does not come back: nothing would ever be answered again. */
  readonly hanging: () => void;
}

const LOOK_MS_MIN = 50;
/** Looks that find the same turn: two to refuse its call, many more to give up. */
const LOOKS_TO_REFUSE = 2;
const LOOKS_TO_GIVE_UP = 12;

/**
 * Refuses a call whose verdict hangs: the Worker may be stuck in a file system that does not
 * answer. A turn counts as hanging when two looks in a row find it, so that time during which we
 * were stopped ourselves is not held against it.
 */
export function watchSupervisor(busy: BusyMark, timeoutMs: number, events: WatchdogEvents): void {
  let turn = -1;
  let looks = 0;
  setInterval(
    () => {
      const current = busy.current();
      looks = current !== null && current.turn === turn ? looks + 1 : 1;
      turn = current?.turn ?? -1;
      if (current === null) return;
      if (looks === LOOKS_TO_REFUSE) {
        const listener = new Listener();
        listener.open(current.listener as Fd);
        if (listener.refuse(current.id, Errno.EACCES)) events.refused(current.tid);
      }
      if (looks === LOOKS_TO_GIVE_UP) events.hanging();
    },
    Math.max(timeoutMs / LOOKS_TO_REFUSE, LOOK_MS_MIN),
  );
}
