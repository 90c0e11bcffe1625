import {
  PIDFD_GET_INFO,
  PIDFD_INFO_CREDS,
  PIDFD_INFO_PID,
  PIDFD_THREAD,
  PidfdInfo,
} from "../abi/pidfd.ts";
import { KernelBuffer, sys } from "./libc.ts";

export interface ProcessInfo {
  readonly tgid: number;
  readonly ppid: number;
  readonly uid: number;
}

/** Asks the kernel who a thread is, without the detour through /proc; from Linux 6.13 on. */
export class ProcessInfoCalls {
  readonly #info = new KernelBuffer(PidfdInfo.size);
  #isSupported = true;

  /** Null where the kernel cannot tell, or the thread is gone. */
  of(tid: number): ProcessInfo | null {
    if (!this.#isSupported) return null;
    const fd = sys("pidfd_open", tid, PIDFD_THREAD);
    if (fd < 0) return null;
    const { at } = PidfdInfo;
    const wanted = PIDFD_INFO_PID | PIDFD_INFO_CREDS;
    this.#info.setU64(at.mask, wanted);
    const asked = sys("ioctl", fd, PIDFD_GET_INFO, this.#info.address);
    sys("close", fd);
    const got = this.#info.view.getUint32(at.mask, true);
    if (asked < 0 || (got & wanted) !== wanted) {
      this.#isSupported = false;
      return null;
    }
    const { view } = this.#info;
    return {
      tgid: view.getUint32(at.tgid, true),
      ppid: view.getUint32(at.ppid, true),
      uid: view.getUint32(at.ruid, true),
    };
  }
}
