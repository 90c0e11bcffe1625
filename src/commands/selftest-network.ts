import { ATTEMPT_CALLS } from "../../ffi/abi/attempt-calls.ts";
import { errnoName } from "../../ffi/abi/errno.ts";
import {
  AF_INET,
  AF_INET6,
  AF_UNIX,
  IPPROTO_ICMP,
  IPPROTO_MPTCP,
  MSG_FASTOPEN,
  SOCK_CLOEXEC,
  SOCK_DGRAM,
  SOCK_RAW,
  SOCK_STREAM,
} from "../../ffi/abi/socket.ts";
import { ARCH, KernelBuffer, sys, sysByNumber } from "../../ffi/calls/libc.ts";
import { loopbackAddress, unixAddress } from "../plan/socket-address.ts";
import { type Attempt, type Ground, work } from "./selftest-attempts.ts";

const NR = ATTEMPT_CALLS[ARCH];
const ANSWER_BYTES_MAX = 4096;
/** In both families the address of the machine itself, in a spelling that is not the usual one. */
const OTHER_LOOPBACK_BYTE = 7;

const answer = (result: number): string => (result < 0 ? errnoName(-result) : "OK");

const net = (id: string, title: string, make: (ground: Ground) => string): Attempt => ({
  id: `net-${id}`,
  area: "network",
  title,
  kind: "escape",
  refusals: ["EACCES", "EPERM"],
  controls: ["OK"],
  make,
});

/** Runs `use` on a new socket; what the socket itself was refused with is the answer as well. */
function withSocket(
  family: number,
  type: number,
  protocol: number,
  use: (fd: number) => string = () => "OK",
): string {
  const fd = sys("socket", family, type | SOCK_CLOEXEC, protocol);
  if (fd < 0) return errnoName(-fd);
  try {
    return use(fd);
  } finally {
    sys("close", fd);
  }
}

function connect(family: number, address: Uint8Array, protocol = 0): string {
  return withSocket(family, SOCK_STREAM, protocol, (fd) => connectOn(fd, address));
}

function connectOn(fd: number, address: Uint8Array): string {
  const buffer = KernelBuffer.of(address);
  return answer(sys("connect", fd, buffer.address, address.length));
}

const local = (port: number): Uint8Array => loopbackAddress(AF_INET, "127.0.0.1", port);

/** 127.0.0.2 is this machine as well, but another service. */
function otherLocal(port: number): Uint8Array {
  const address = local(port);
  address[OTHER_LOOPBACK_BYTE] = 2;
  return address;
}

/** One byte with an address, which connects (fast open) or needs no connection (a datagram). */
function sendTo(fd: number, flags: number, port: number): string {
  const [byte, address] = [new KernelBuffer(1), KernelBuffer.of(local(port))];
  const { address: to, bytes } = address;
  return answer(sysByNumber(NR.sendto, fd, byte.address, 1, flags, to, bytes.length));
}

/** `OK` for an answer of the server itself, or the status that the proxy gave instead. */
function ask(ground: Ground, head: (target: string) => string, port: number): string {
  const { proxy } = ground;
  return withSocket(AF_INET, SOCK_STREAM, 0, (fd) => {
    const connected = connectOn(fd, local(proxy === null ? port : Number(proxy.port)));
    if (connected !== "OK") return connected;
    const login = proxy === null ? "" : `Proxy-Authorization: Basic ${credentials(proxy)}\r\n`;
    const target = proxy === null ? "" : `http://127.0.0.1:${port}`;
    const lines = `Host: 127.0.0.1:${port}\r\n${login}Connection: close\r\n\r\n`;
    const text = `${head(target)} HTTP/1.1\r\n${lines}`;
    const request = KernelBuffer.of(Buffer.from(text));
    const written = sys("write", fd, request.address, request.bytes.length);
    if (written < 0) return errnoName(-written);
    const into = new KernelBuffer(ANSWER_BYTES_MAX);
    const length = sys("read", fd, into.address, ANSWER_BYTES_MAX);
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(
      into.bytes.toString("latin1", 0, Math.max(length, 0)),
    );
    return status === null ? "failed: no answer" : status[1] === "200" ? "OK" : `${status[1]}`;
  });
}

const credentials = ({ username, password }: URL): string =>
  Buffer.from(`${username}:${password}`).toString("base64");

const get = (target: string): string => `GET ${target}/`;
const tunnel = (port: number) => (target: string) =>
  target === "" ? "GET /" : `CONNECT 127.0.0.1:${port}`;

export const NETWORK_ATTEMPTS: readonly Attempt[] = [
  work("network", "net-port", "connect to a port that is allowed", ({ allowedPort }) =>
    connect(AF_INET, local(allowedPort)),
  ),
  work("network", "net-proxy", "ask for what is allowed, through the proxy", (ground) =>
    ask(ground, get, ground.allowedPort),
  ),
  {
    ...net("proxy", "ask the proxy for what is not allowed", (ground) =>
      ask(ground, get, ground.strangePort),
    ),
    refusals: ["403"],
  },
  {
    ...net("tunnel", "ask it for a tunnel there", (ground) =>
      ask(ground, tunnel(ground.strangePort), ground.strangePort),
    ),
    refusals: ["403"],
  },
  net("port", "connect there past the proxy", ({ strangePort }) =>
    connect(AF_INET, local(strangePort)),
  ),
  net("mapped", "the same, as IPv4 inside IPv6", ({ strangePort }) =>
    connect(AF_INET6, loopbackAddress(AF_INET6, "127.0.0.1", strangePort)),
  ),
  net("address", "an allowed port, at another address", ({ allowedPort }) =>
    connect(AF_INET, otherLocal(allowedPort)),
  ),
  {
    ...net("fastopen", "a send that connects (MSG_FASTOPEN)", ({ strangePort }) =>
      withSocket(AF_INET, SOCK_STREAM, 0, (fd) => sendTo(fd, MSG_FASTOPEN, strangePort)),
    ),
    refusals: ["EACCES", "EPERM", "ENOTSUP", "EOPNOTSUPP"],
  },
  {
    ...net("mptcp", "another transport (MPTCP)", ({ strangePort }) =>
      connect(AF_INET, local(strangePort), IPPROTO_MPTCP),
    ),
    refusals: ["EACCES", "EPERM", "EPROTONOSUPPORT"],
  },
  net("udp", "a datagram (UDP), as a name server gets them", ({ strangePort }) =>
    withSocket(AF_INET, SOCK_DGRAM, 0, (fd) => sendTo(fd, 0, strangePort)),
  ),
  net("raw", "a raw socket", () => withSocket(AF_INET, SOCK_RAW, IPPROTO_ICMP)),
  net("bind", "take a port", () =>
    withSocket(AF_INET, SOCK_STREAM, 0, (fd) => {
      const address = KernelBuffer.of(local(0));
      return answer(sysByNumber(NR.bind, fd, address.address, address.bytes.length));
    }),
  ),
  net("listen", "listen without taking one", () =>
    withSocket(AF_INET, SOCK_STREAM, 0, (fd) => answer(sys("listen", fd, 1))),
  ),
  net("unix", "a unix socket that is not granted", ({ outside }) =>
    connect(AF_UNIX, unixAddress(`${outside}/socket`)),
  ),
  net("unix-link", "the same, through a symbolic link", ({ work: granted }) =>
    connect(AF_UNIX, unixAddress(`${granted}/to-socket`)),
  ),
  {
    ...net("abstract", "an abstract unix socket of somebody outside", ({ strangePort }) =>
      // Without the NUL that ends a path: here every byte counts.
      connect(AF_UNIX, unixAddress(abstractName(strangePort)).subarray(0, -1)),
    ),
    refusals: ["EACCES", "EPERM", "ECONNREFUSED"],
  },
];

/** The port makes it one of its own for each run. */
export const abstractName = (port: number): string => `\0faraday-selftest-${port}`;
