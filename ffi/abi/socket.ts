import { array, struct, u8, u16, u32, u64 } from "./struct.ts";

export const AF_UNSPEC = 0;
export const AF_UNIX = 1;
export const AF_INET = 2;
export const AF_INET6 = 10;
export const AF_NETLINK = 16;

export const SOCK_STREAM = 1;
export const SOCK_DGRAM = 2;
export const SOCK_RAW = 3;
export const SOCK_SEQPACKET = 5;
/** What is above these bits of a socket's type are flags. */
export const SOCK_TYPE_MASK = 0xf;
export const SOCK_CLOEXEC = 0o2000000;

export const IPPROTO_ICMP = 1;
export const IPPROTO_TCP = 6;
export const IPPROTO_MPTCP = 262;
export const NETLINK_ROUTE = 0;

export const SOL_SOCKET = 1;
export const SO_TYPE = 3;
export const SO_SNDTIMEO = 21;
export const SO_BINDTODEVICE = 25;
export const SO_PROTOCOL = 38;
export const SO_DOMAIN = 39;
export const SO_BINDTOIFINDEX = 62;
/** Linux 6.5: a descriptor for the process that the peer of a unix socket belongs to. */
export const SO_PEERPIDFD = 77;

export const IPPROTO_IP = 0;
export const IP_OPTIONS = 4;
export const IP_UNICAST_IF = 50;

export const IPPROTO_IPV6 = 41;
export const IPV6_2292PKTOPTIONS = 6;
export const IPV6_2292HOPOPTS = 3;
export const IPV6_2292DSTOPTS = 4;
export const IPV6_2292RTHDR = 5;
export const IPV6_HOPOPTS = 54;
export const IPV6_RTHDRDSTOPTS = 55;
export const IPV6_RTHDR = 57;
export const IPV6_DSTOPTS = 59;
export const IPV6_UNICAST_IF = 76;

export const TCP_REPAIR = 19;
export const TCP_FASTOPEN = 23;
export const TCP_FASTOPEN_CONNECT = 30;

export const SCM_RIGHTS = 1;
export const MSG_NOSIGNAL = 0x4000;
export const MSG_CMSG_CLOEXEC = 0x40000000;
/** A send that connects. */
export const MSG_FASTOPEN = 0x20000000;

/** Ports are in network order. */
export const SockaddrIn = struct({
  family: u16,
  port: u16,
  address: array(u8, 4),
  zero: array(u8, 8),
});
export const SockaddrIn6 = struct({
  family: u16,
  port: u16,
  flowinfo: u32,
  address: array(u8, 16),
  scopeId: u32,
});
export const SockaddrUn = struct({ family: u16, path: array(u8, 108) });
/** The kernel takes no longer address, of whatever family. */
export const SOCKADDR_BYTES_MAX = 128;

export const Timeval = struct({ seconds: u64, microseconds: u64 });
