import type { Fd } from "../abi/brand.ts";
import { Errno } from "../abi/errno.ts";
import { CMSG_ONE_FD_LENGTH, CmsgOneFd, Iovec, Msghdr } from "../abi/process.ts";
import {
  AF_UNIX,
  MSG_CMSG_CLOEXEC,
  MSG_NOSIGNAL,
  SCM_RIGHTS,
  SO_TYPE,
  SOCK_CLOEXEC,
  SOCK_SEQPACKET,
  SOCK_STREAM,
  SOL_SOCKET,
} from "../abi/socket.ts";
import { KernelBuffer, sys } from "./libc.ts";

export function socketPair(): readonly [Fd, Fd] {
  const pair = new KernelBuffer(8);
  const result = sys("socketpair", AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.address);
  if (result < 0) throw new Error(`socketpair: errno ${-result}`);
  return [pair.view.getInt32(0, true) as Fd, pair.view.getInt32(4, true) as Fd];
}

/** Writes all of it; the negated errno if the peer is gone. */
export function writeAll(fd: Fd, bytes: Uint8Array): number {
  const buffer = KernelBuffer.of(bytes);
  let done = 0;
  while (done < bytes.length) {
    const wrote = sys("write", fd, buffer.address + done, bytes.length - done);
    if (wrote === -Errno.EINTR) continue;
    if (wrote < 0) return wrote;
    done += wrote;
  }
  return done;
}

/** Reads exactly `length` bytes; null if the peer closed or failed before that. */
export function readExactly(fd: Fd, length: number): Buffer | null {
  const buffer = new KernelBuffer(length);
  let done = 0;
  while (done < length) {
    const got = sys("read", fd, buffer.address + done, length - done);
    if (got === -Errno.EINTR) continue;
    if (got <= 0) return null;
    done += got;
  }
  return buffer.bytes.subarray(0, length);
}

interface Message {
  readonly header: KernelBuffer;
  readonly control: KernelBuffer;
  readonly byte: KernelBuffer;
  readonly iov: KernelBuffer;
}

/** One byte of data, and room for one descriptor beside it. */
function oneByteMessage(): Message {
  const byte = new KernelBuffer(1);
  const iov = new KernelBuffer(Iovec.size);
  const control = new KernelBuffer(CmsgOneFd.size);
  const header = new KernelBuffer(Msghdr.size);
  iov.setU64(Iovec.at.base, byte.address);
  iov.setU64(Iovec.at.length, 1);
  header.setU64(Msghdr.at.iov, iov.address);
  header.setU64(Msghdr.at.iovLength, 1);
  header.setU64(Msghdr.at.control, control.address);
  header.setU64(Msghdr.at.controlLength, CmsgOneFd.size);
  return { header, control, byte, iov };
}

export function sendDescriptor(socket: Fd, tag: number, fd: Fd): number {
  const { header, control, byte } = oneByteMessage();
  byte.bytes[0] = tag;
  control.setU64(CmsgOneFd.at.length, CMSG_ONE_FD_LENGTH);
  control.view.setInt32(CmsgOneFd.at.level, SOL_SOCKET, true);
  control.view.setInt32(CmsgOneFd.at.type, SCM_RIGHTS, true);
  control.view.setInt32(CmsgOneFd.at.fd, fd, true);
  return sys("sendmsg", socket, header.address, MSG_NOSIGNAL);
}

/** One tagged byte and the descriptor that came with it, if any; null when the peer closed. */
export function receiveDescriptor(socket: Fd): { tag: number; fd: Fd | null } | null {
  const { header, control, byte } = oneByteMessage();
  let got = -Errno.EINTR;
  while (got === -Errno.EINTR) got = sys("recvmsg", socket, header.address, MSG_CMSG_CLOEXEC);
  if (got <= 0) return null;
  const carried =
    header.u64(Msghdr.at.controlLength) >= CMSG_ONE_FD_LENGTH &&
    control.view.getInt32(CmsgOneFd.at.type, true) === SCM_RIGHTS;
  return {
    tag: byte.bytes[0] ?? 0,
    fd: carried ? (control.view.getInt32(CmsgOneFd.at.fd, true) as Fd) : null,
  };
}

/** A socket that can send to whoever it names in each message. */
export function isDatagramSocket(fd: number): boolean {
  const type = new KernelBuffer(4);
  const length = new KernelBuffer(4);
  length.view.setUint32(0, 4, true);
  const got = sys("getsockopt", fd, SOL_SOCKET, SO_TYPE, type.address, length.address);
  const value = type.view.getInt32(0, true);
  return got === 0 && value !== SOCK_STREAM && value !== SOCK_SEQPACKET;
}
