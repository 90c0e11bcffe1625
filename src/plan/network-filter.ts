import {
  AF_INET,
  AF_INET6,
  AF_NETLINK,
  AF_UNIX,
  IP_OPTIONS,
  IP_UNICAST_IF,
  IPPROTO_IP,
  IPPROTO_IPV6,
  IPPROTO_TCP,
  IPV6_2292DSTOPTS,
  IPV6_2292HOPOPTS,
  IPV6_2292PKTOPTIONS,
  IPV6_2292RTHDR,
  IPV6_DSTOPTS,
  IPV6_HOPOPTS,
  IPV6_RTHDR,
  IPV6_RTHDRDSTOPTS,
  IPV6_UNICAST_IF,
  MSG_FASTOPEN,
  NETLINK_ROUTE,
  SO_BINDTODEVICE,
  SO_BINDTOIFINDEX,
  SOCK_SEQPACKET,
  SOCK_STREAM,
  SOCK_TYPE_MASK,
  SOL_SOCKET,
  TCP_FASTOPEN,
  TCP_FASTOPEN_CONNECT,
  TCP_REPAIR,
} from "../../ffi/abi/socket.ts";
import type { ArgumentTest, FilterRule } from "../../ffi/abi/syscall-filter.ts";

/** The kernel looks at the low half of an int argument only, and so must the filter. */
const LOW_HALF = 0xffff_ffff;
const int = (argument: number, value: number): ArgumentTest => ({
  argument,
  op: "masked-equal",
  mask: LOW_HALF,
  value,
});
const type = (value: number): ArgumentTest => ({
  argument: 1,
  op: "masked-equal",
  mask: SOCK_TYPE_MASK,
  value,
});
const atLeast = (argument: number, value: number): ArgumentTest => ({
  argument,
  op: "at-least",
  value,
});
const refuse = (
  action: Exclude<FilterRule["action"], "notify">,
  call: string,
  ...when: readonly ArgumentTest[]
): FilterRule => ({ call, action, when });
const trap = (call: string): FilterRule => ({ call, action: "notify", when: [] });

/**
 * libseccomp has no "none of these", so a list of what is allowed is turned into rules for all the
 * numbers between, and one for those above. Rubbish in the upper half of a register counts as a
 * large number and is refused.
 */
function allBut(argument: number, allowed: readonly number[]): readonly ArgumentTest[] {
  const top = Math.max(...allowed) + 1;
  const between = Array.from({ length: top }, (_, value) => value).filter(
    (value) => !allowed.includes(value),
  );
  return [...between.map((value) => int(argument, value)), atLeast(argument, top)];
}

const typesBut = (allowed: readonly number[]): readonly ArgumentTest[] =>
  Array.from({ length: SOCK_TYPE_MASK + 1 }, (_, value) => value)
    .filter((value) => !allowed.includes(value))
    .map(type);

/** Kinds of unix socket that reach nobody but whom they connect to. */
const UNIX_TYPES = [SOCK_STREAM, SOCK_SEQPACKET];
const DATAGRAM_TYPES = [2, 3];

/**
 * Sockets by path are judged when they connect, so connect is trapped. A datagram socket names its
 * peer with every message, in memory that no filter sees: there are none. (SOCK_RAW is another
 * spelling of the same.)
 */
export const UNIX_FILTER: readonly FilterRule[] = [
  trap("connect"),
  ...["socket", "socketpair"].flatMap((call) =>
    DATAGRAM_TYPES.map((each) => refuse("EACCES", call, int(0, AF_UNIX), type(each))),
  ),
];

/** Options that send a packet elsewhere than to the address which its socket is connected to. */
const DETOURS: readonly (readonly [level: number, name: number])[] = [
  [SOL_SOCKET, SO_BINDTODEVICE],
  [SOL_SOCKET, SO_BINDTOIFINDEX],
  [IPPROTO_IP, IP_OPTIONS],
  [IPPROTO_IP, IP_UNICAST_IF],
  [IPPROTO_IPV6, IPV6_2292PKTOPTIONS],
  [IPPROTO_IPV6, IPV6_2292HOPOPTS],
  [IPPROTO_IPV6, IPV6_2292DSTOPTS],
  [IPPROTO_IPV6, IPV6_2292RTHDR],
  [IPPROTO_IPV6, IPV6_HOPOPTS],
  [IPPROTO_IPV6, IPV6_RTHDRDSTOPTS],
  [IPPROTO_IPV6, IPV6_RTHDR],
  [IPPROTO_IPV6, IPV6_DSTOPTS],
  [IPPROTO_IPV6, IPV6_UNICAST_IF],
];

/** Options that make or take a connection without the call that is judged. */
const SHORTCUTS = [TCP_FASTOPEN, TCP_FASTOPEN_CONNECT, TCP_REPAIR];

/**
 * The pin: TCP, unix streams and look-ups of the machine's own addresses are all the sockets there
 * are. Family, type and protocol are values in registers, which nobody can change any more. EACCES
 * is what socket(2) has for "not permitted"; resolvers give up on it at once.
 */
export const PIN_FILTER: readonly FilterRule[] = [
  trap("connect"),
  trap("bind"),
  trap("listen"),
  ...allBut(0, [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK]).map((test) =>
    refuse("EAFNOSUPPORT", "socket", test),
  ),
  ...[AF_INET, AF_INET6].flatMap((family) => [
    ...typesBut([SOCK_STREAM]).map((test) => refuse("EACCES", "socket", int(0, family), test)),
    ...allBut(2, [0, IPPROTO_TCP]).map((test) =>
      refuse("EACCES", "socket", int(0, family), type(SOCK_STREAM), test),
    ),
  ]),
  ...typesBut(UNIX_TYPES).map((test) => refuse("EACCES", "socket", int(0, AF_UNIX), test)),
  refuse("EACCES", "socket", int(0, AF_NETLINK), atLeast(2, NETLINK_ROUTE + 1)),
  ...allBut(0, [AF_UNIX]).map((test) => refuse("EAFNOSUPPORT", "socketpair", test)),
  ...typesBut(UNIX_TYPES).map((test) => refuse("EACCES", "socketpair", int(0, AF_UNIX), test)),
  ...(
    [
      ["sendto", 3],
      ["sendmsg", 2],
      ["sendmmsg", 3],
    ] as const
  ).map(([call, argument]) =>
    refuse("EOPNOTSUPP", call, {
      argument,
      op: "masked-equal",
      mask: MSG_FASTOPEN,
      value: MSG_FASTOPEN,
    }),
  ),
  ...SHORTCUTS.map((name) => refuse("EOPNOTSUPP", "setsockopt", int(1, IPPROTO_TCP), int(2, name))),
  ...DETOURS.map(([level, name]) => refuse("EPERM", "setsockopt", int(1, level), int(2, name))),
];

/** How much of the network a filter holds. */
export type NetworkHold = "open" | "unix" | "pin";

export function networkFilter(hold: NetworkHold): readonly FilterRule[] {
  switch (hold) {
    case "open":
      return [];
    case "unix":
      return UNIX_FILTER;
    case "pin":
      return PIN_FILTER;
    default:
      return hold satisfies never;
  }
}
