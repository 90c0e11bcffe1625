import type { Fd } from "../abi/brand.ts";
import { Errno } from "../abi/errno.ts";
import {
  SECCOMP_ADDFD_FLAG_SETFD,
  SECCOMP_IOCTL_NOTIF_ADDFD,
  SECCOMP_IOCTL_NOTIF_ID_VALID,
  SECCOMP_IOCTL_NOTIF_RECV,
  SECCOMP_IOCTL_NOTIF_SEND,
  SECCOMP_IOCTL_NOTIF_SET_FLAGS,
  SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP,
  SECCOMP_USER_NOTIF_FLAG_CONTINUE,
  SeccompData,
  SeccompNotif,
  SeccompNotifAddfd,
  SeccompNotifResp,
} from "../abi/seccomp.ts";
import { KernelBuffer, sys } from "./libc.ts";

const INTERRUPTIONS_MAX = 10_000;
const ARGS_AT = SeccompNotif.at.data + SeccompData.at.args;

/** The supervisor's end of a seccomp filter: receives one call at a time and answers it. */
export class Listener {
  #fd = -1 as Fd;
  #wakesHere = false;
  readonly #notif = new KernelBuffer(SeccompNotif.size);
  readonly #resp = new KernelBuffer(SeccompNotifResp.size);
  readonly #id = new KernelBuffer(8);

  get fd(): Fd {
    return this.#fd;
  }

  /** Nothing is received before. */
  open(fd: Fd): void {
    this.#fd = fd;
    // Only a matter of speed, and unknown before Linux 6.6.
    const flags = SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP;
    this.#wakesHere = sys("ioctl", fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, flags) === 0;
  }

  /** Whether a caller and we wake each other on the processor that we are on. */
  get wakesHere(): boolean {
    return this.#wakesHere;
  }

  /** Zero when a call was received, else the negated errno. */
  receive(): number {
    // The kernel refuses a buffer that is not all zero.
    this.#notif.bytes.fill(0);
    return sys("ioctl", this.#fd, SECCOMP_IOCTL_NOTIF_RECV, this.#notif.address);
  }

  /** The thread that made the call. */
  get tid(): number {
    return this.#notif.view.getUint32(SeccompNotif.at.pid, true);
  }

  get callNumber(): number {
    return this.#notif.view.getInt32(SeccompNotif.at.data + SeccompData.at.nr, true);
  }

  /** A whole argument, for pointers. */
  argument(index: number): number {
    return this.#notif.u64(ARGS_AT + index * 8);
  }

  /** An int argument: the kernel looks at its low half only. */
  intArgument(index: number): number {
    return this.#notif.view.getInt32(ARGS_AT + index * 8, true);
  }

  /** The id of the received call, which names it as long as it waits. */
  get id(): bigint {
    return this.#notif.view.getBigUint64(SeccompNotif.at.id, true);
  }

  alive(id: bigint): boolean {
    this.#id.view.setBigUint64(0, id, true);
    return this.#ioctl(SECCOMP_IOCTL_NOTIF_ID_VALID, this.#id.address) === 0;
  }

  /** Lets the call go ahead; false if its caller is gone. */
  proceed(id: bigint): boolean {
    return this.#send(id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
  }

  /** Makes the call fail with `errno`; false if its caller is gone. */
  refuse(id: bigint, errno: number): boolean {
    return this.#send(id, -errno, 0);
  }

  /**
   * Makes the call return a copy of our descriptor; a negated errno if it cannot have one. (A flag
   * would do both at once. But a signal of ours in between makes the call return 0 then, which is a
   * descriptor as well.)
   */
  returnDescriptor(id: bigint, fd: Fd | number, flags: number): number {
    const number = this.#addFd(id, fd, flags, null);
    if (number >= 0) this.#send(id, 0, 0, number);
    return number;
  }

  /** Puts a copy of our descriptor into the caller's table, in the place of what is there. */
  putDescriptor(id: bigint, fd: Fd | number, number: number, flags: number): number {
    return this.#addFd(id, fd, flags, number);
  }

  #addFd(id: bigint, fd: Fd | number, flags: number, number: number | null): number {
    const { at, size } = SeccompNotifAddfd;
    const request = new KernelBuffer(size);
    request.view.setBigUint64(at.id, id, true);
    request.view.setUint32(at.flags, number === null ? 0 : SECCOMP_ADDFD_FLAG_SETFD, true);
    request.view.setUint32(at.srcfd, fd, true);
    request.view.setUint32(at.newfd, number ?? 0, true);
    request.view.setUint32(at.newfdFlags, flags, true);
    // The caller itself takes it over. A signal of ours meanwhile means that it has not done so.
    return this.#ioctl(SECCOMP_IOCTL_NOTIF_ADDFD, request.address);
  }

  #send(id: bigint, error: number, flags: number, value = 0): boolean {
    const { at } = SeccompNotifResp;
    this.#resp.view.setBigUint64(at.id, id, true);
    this.#resp.setU64(at.val, value);
    this.#resp.view.setInt32(at.error, error, true);
    this.#resp.view.setUint32(at.flags, flags, true);
    return this.#ioctl(SECCOMP_IOCTL_NOTIF_SEND, this.#resp.address) === 0;
  }

  /**
   * The kernel waits for a lock, which other callers may hold, and gives up at a signal of ours. To
   * take that for a caller that is gone would leave it without an answer for ever.
   */
  #ioctl(command: number, address: number): number {
    for (let attempt = 0; attempt < INTERRUPTIONS_MAX; attempt++) {
      const result = sys("ioctl", this.#fd, command, address);
      if (result !== -Errno.EINTR) return result;
    }
    return -Errno.EINTR;
  }
}
