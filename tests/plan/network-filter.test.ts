import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AUDIT_ARCH, archOf } from "../../ffi/abi/arch.ts";
import { Errno } from "../../ffi/abi/errno.ts";
import { REPOSITORY } from "../../scripts/source-files.ts";
import { runFilter } from "./bpf-machine.ts";

const arch = archOf(process.arch) ?? "x86_64";
const CAN_RUN = process.platform === "linux";
const NUMBERS = {
  x86_64: { socket: 41, connect: 42, sendto: 44, sendmsg: 46, bind: 49, listen: 50 },
  aarch64: { socket: 198, connect: 203, sendto: 206, sendmsg: 211, bind: 200, listen: 201 },
}[arch];
const MORE_NUMBERS = {
  x86_64: { socketpair: 53, setsockopt: 54, sendmmsg: 307, accept4: 288, getsockopt: 55 },
  aarch64: { socketpair: 199, setsockopt: 208, sendmmsg: 269, accept4: 242, getsockopt: 209 },
}[arch];
const CALLS = { ...NUMBERS, ...MORE_NUMBERS };

const NAMES = new Map<number, string>([
  [0x7fff0000, "ALLOW"],
  [0x7fc00000, "NOTIFY"],
  ...(["EPERM", "EACCES", "EAFNOSUPPORT", "EOPNOTSUPP"] as const).map(
    (name) => [0x00050000 | Errno[name], name] as const,
  ),
]);

type Kind = "filter" | "pinned" | "sealed" | "sealed-pinned" | "explained-old-pinned";
const PINNED: readonly Kind[] = ["pinned", "sealed-pinned", "explained-old-pinned"];

function filterOf(kind: Kind): Buffer {
  const text = readFileSync(join(REPOSITORY, "build/exec-filter.json"), "utf8");
  return Buffer.from(JSON.parse(text)[kind], "base64");
}

function verdict(kind: Kind, call: keyof typeof CALLS, ...args: readonly (number | bigint)[]) {
  const program = filterOf(kind);
  const values = args.map(BigInt);
  const answer = runFilter(program, { number: CALLS[call], arch: AUDIT_ARCH[arch], args: values });
  return NAMES.get(answer) ?? `0x${answer.toString(16)}`;
}

/** The list of what there is under the pin, said once more in other words. */
function isAllowed(family: number, kind: number, protocol: number): boolean {
  if (family === 1) return kind === 1 || kind === 5;
  if (family === 2 || family === 10) return kind === 1 && (protocol === 0 || protocol === 6);
  return family === 16 && protocol === 0;
}

describe.if(CAN_RUN)("the filter of the pin", () => {
  test.each([...PINNED])("%s allows the listed sockets and no others", (kind) => {
    const program = filterOf(kind);
    const answerTo = (...args: readonly bigint[]): number =>
      runFilter(program, { number: CALLS.socket, arch: AUDIT_ARCH[arch], args });
    const protocols = [0, 1, 2, 5, 6, 7, 9, 17, 33, 58, 132, 136, 255, 256, 262];
    const wrong: string[] = [];
    for (let family = 0; family < 64; family++) {
      for (let each = 0; each < 16; each++) {
        for (const protocol of protocols) {
          for (const flags of [0, 0o4000, 0o2000000, 0o2004000]) {
            const args = [family, each | flags, protocol].map(BigInt);
            const isOpen = NAMES.get(answerTo(...args)) === "ALLOW";
            if (isOpen !== isAllowed(family, each, protocol)) wrong.push(args.join(" "));
          }
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  const HIGH = 1n << 32n;
  test.each([
    { args: [HIGH + 2n, 2n, 0n], because: "UDP" },
    { args: [2n, HIGH + 2n, 0n], because: "UDP by type" },
    { args: [2n, 1n, HIGH + 262n], because: "MPTCP" },
    { args: [HIGH + 17n, 3n, 0n], because: "packets" },
    { args: [2n ** 64n - 1n, 1n, 0n], because: "a negative family" },
    { args: [2n, 1n, 2n ** 64n - 1n], because: "a negative protocol" },
    { args: [HIGH + 16n, 3n, HIGH + 4n], because: "sock_diag" },
  ])("rubbish in the upper halves does not hide $because", ({ args }) => {
    for (const kind of PINNED) expect(verdict(kind, "socket", ...args)).not.toBe("ALLOW");
  });

  test.each([
    { call: "sendto", args: [3, 0, 1, 0x20000000, 0, 0] },
    { call: "sendto", args: [3, 0, 1, 0x20004000, 0, 0] },
    { call: "sendmsg", args: [3, 0, 0x20000000] },
    { call: "sendmmsg", args: [3, 0, 1, 0x20000000] },
    { call: "setsockopt", args: [3, 6, 30] },
    { call: "setsockopt", args: [3, 6, 23] },
  ] as const)("$call $args connects without connect, and is refused", ({ call, args }) => {
    for (const kind of PINNED) expect(verdict(kind, call, ...args)).toBe("EOPNOTSUPP");
    expect(verdict("filter", call, ...args)).toBe("ALLOW");
  });

  test.each([
    { args: [3, 0, 4], because: "a source route" },
    { args: [3, 41, 57], because: "a routing header" },
    { args: [3, 1, 25], because: "a device" },
    { args: [3, 1, 62], because: "a device by number" },
  ])("setsockopt for $because would send past the address", ({ args }) => {
    for (const kind of PINNED) expect(verdict(kind, "setsockopt", ...args)).toBe("EPERM");
  });

  test.each([
    { call: "setsockopt", args: [3, 1, 2], because: "SO_REUSEADDR" },
    { call: "setsockopt", args: [3, 6, 1], because: "TCP_NODELAY" },
    { call: "setsockopt", args: [3, 41, 26], because: "IPV6_V6ONLY" },
    { call: "sendto", args: [3, 0, 1, 0x4000, 0, 0], because: "MSG_NOSIGNAL" },
    { call: "sendmsg", args: [3, 0, 0x4000], because: "MSG_NOSIGNAL" },
    { call: "accept4", args: [3, 0, 0, 0], because: "nobody gets in who was not let listen" },
    { call: "socketpair", args: [1, 1, 0], because: "pipes of both directions" },
    { call: "socketpair", args: [1, 0o2000005, 0], because: "packets between relatives" },
  ] as const)("$call $args goes on: $because", ({ call, args }) => {
    for (const kind of PINNED) expect(verdict(kind, call, ...args)).toBe("ALLOW");
  });

  test("connect, bind and listen are the supervisor's, and only under the pin", () => {
    for (const call of ["connect", "bind", "listen"] as const) {
      for (const kind of PINNED) expect(verdict(kind, call, 3, 0, 16)).toBe("NOTIFY");
      expect(verdict("filter", call, 3, 0, 16)).toBe("ALLOW");
    }
  });
});

describe.if(CAN_RUN)("the filter of a seal without a pin", () => {
  test.each([
    { call: "connect", args: [3, 0, 16], answer: "NOTIFY" },
    { call: "bind", args: [3, 0, 16], answer: "ALLOW" },
    { call: "listen", args: [3, 16], answer: "ALLOW" },
    { call: "socket", args: [1, 1, 0], answer: "ALLOW" },
    { call: "socket", args: [1, 2, 0], answer: "EACCES" },
    { call: "socket", args: [1, 0o2000003, 0], answer: "EACCES" },
    { call: "socket", args: [2, 2, 17], answer: "ALLOW" },
    { call: "socket", args: [17, 3, 0], answer: "ALLOW" },
    { call: "socketpair", args: [1, 2, 0], answer: "EACCES" },
    { call: "socketpair", args: [1, 5, 0], answer: "ALLOW" },
  ] as const)("$call $args: $answer", ({ call, args, answer }) => {
    expect(verdict("sealed", call, ...args)).toBe(answer);
    expect(verdict("filter", call, ...args)).toBe("ALLOW");
  });
});
