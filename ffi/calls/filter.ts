import type { Fd } from "../abi/brand.ts";
import { Errno } from "../abi/errno.ts";
import {
  SECCOMP_FILTER_FLAG_NEW_LISTENER,
  SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
  SECCOMP_SET_MODE_FILTER,
  SOCK_FILTER_BYTES,
  SockFprog,
} from "../abi/seccomp.ts";
import { KernelBuffer, sys } from "./libc.ts";

/** Installs a compiled filter on the calling thread; its listener, or a negated errno. */
export function installFilter(program: Uint8Array): Fd | number {
  const code = KernelBuffer.of(program);
  const header = new KernelBuffer(SockFprog.size);
  header.view.setUint16(SockFprog.at.len, program.length / SOCK_FILTER_BYTES, true);
  header.setU64(SockFprog.at.filter, code.address);
  const install = (flags: number): number =>
    sys("seccomp", SECCOMP_SET_MODE_FILTER, flags, header.address);
  const listener = install(
    SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
  );
  // Before Linux 5.19: calls are then restarted by signals while they are judged, no more.
  return listener === -Errno.EINVAL ? install(SECCOMP_FILTER_FLAG_NEW_LISTENER) : listener;
}
