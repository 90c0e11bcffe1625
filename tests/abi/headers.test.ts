import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ATTEMPT_CALLS } from "../../ffi/abi/attempt-calls.ts";
import { FILE_CALLS } from "../../ffi/abi/file-calls.ts";
import { METADATA_CALLS, NEW_METADATA_CALLS } from "../../ffi/abi/metadata-calls.ts";
import { SYSCALL_NUMBERS, TRAPPED_CALLS } from "../../ffi/abi/syscall-numbers.ts";
import {
  type Answers,
  askHeaders,
  type Fact,
  HAS_HEADERS,
  headersVersion,
} from "./header-program.ts";
import { KERNEL_NUMBERS, LIBC_NUMBERS, ROOMS } from "./number-facts.ts";
import { KERNEL_STRUCTS, LIBC_STRUCTS, UNCOMPARED_LAYOUTS } from "./struct-facts.ts";

const LIBC_HEADERS = `#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>
#include <sys/user.h>
#include <time.h>
#include <linux/audit.h>
#include <linux/btrfs.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <linux/ioctl.h>
#include <linux/landlock.h>
#include <linux/msdos_fs.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <linux/version.h>
#if __has_include(<seccomp.h>)
#include <seccomp.h>
#endif`;

const KERNEL_HEADERS = `#include <asm/signal.h>
#include <linux/elf.h>
#include <linux/fcntl.h>
#include <linux/ioctl.h>
#include <linux/pidfd.h>
#include <linux/ptrace.h>
#include <linux/resource.h>
#include <linux/time_types.h>
#include <linux/version.h>
#include <linux/wait.h>`;

/** What arch/arm64/include/uapi/asm/unistd.h says before it takes the generic numbers. */
const AARCH64_CALLS = `#define __ARCH_WANT_RENAMEAT
#define __ARCH_WANT_NEW_STAT
#define __ARCH_WANT_SET_GET_RLIMIT
#define __ARCH_WANT_TIME32_SYSCALLS
#define __ARCH_WANT_SYS_CLONE3
#include <asm-generic/unistd.h>`;

const X86_64_CALLS = `#if defined(__x86_64__)
#include <asm/unistd.h>
#endif`;

type CallTable = Readonly<
  Record<string, { readonly numbers: Readonly<Record<"x86_64" | "aarch64", number | null>> }>
>;

/** The calls of a table that this machine has. */
function numbersIn(table: CallTable, arch: "x86_64" | "aarch64"): readonly [string, number][] {
  return Object.entries(table).flatMap(([name, { numbers }]): [string, number][] => {
    const number = numbers[arch];
    return number === null ? [] : [[name, number]];
  });
}

function callFacts(arch: "x86_64" | "aarch64"): readonly Fact[] {
  const tables = {
    SYSCALL_NUMBERS: Object.entries(SYSCALL_NUMBERS[arch]),
    TRAPPED_CALLS: Object.entries(TRAPPED_CALLS[arch]),
    ATTEMPT_CALLS: Object.entries(ATTEMPT_CALLS[arch]),
    FILE_CALLS: numbersIn(FILE_CALLS, arch),
    METADATA_CALLS: numbersIn(METADATA_CALLS, arch),
  };
  const guard = { condition: "defined(__x86_64__)", reason: "the other machine's numbers" };
  const known = Object.entries(tables).flatMap(([table, calls]) =>
    calls.map(([call, ours]) => ({
      name: `${table}.${arch}.${call}`,
      ours,
      expression: `__NR_${call}`,
      ...(arch === "x86_64" ? { guard } : {}),
    })),
  );
  const newer = Object.entries(NEW_METADATA_CALLS).map(([call, ours]) => ({
    name: `NEW_METADATA_CALLS.${arch}.${call}`,
    ours,
    expression: `__NR_${call}`,
    guard: { condition: `defined(__NR_${call})`, reason: "Linux 6.6 to 6.17" },
  }));
  return [...known, ...newer];
}

/** A call that a machine does not have must not be named by its header either. */
function absentFacts(): readonly Fact[] {
  return Object.entries({ ...FILE_CALLS, ...METADATA_CALLS }).flatMap(([call, { numbers }]) =>
    numbers.aarch64 !== null
      ? []
      : {
          name: `absent on aarch64: ${call}`,
          ours: 0,
          expression: `__NR_${call}`,
          guard: { condition: `defined(__NR_${call})`, reason: "as it should be" },
        },
  );
}

const GROUPS: Readonly<
  Record<string, { readonly prelude: string; readonly facts: readonly Fact[] }>
> = {
  "numbers of libc and the kernel": { prelude: LIBC_HEADERS, facts: LIBC_NUMBERS },
  "numbers of the kernel alone": { prelude: KERNEL_HEADERS, facts: KERNEL_NUMBERS },
  "structs of libc and the kernel": { prelude: LIBC_HEADERS, facts: LIBC_STRUCTS },
  "structs of the kernel alone": { prelude: KERNEL_HEADERS, facts: KERNEL_STRUCTS },
  "system calls of x86_64": { prelude: X86_64_CALLS, facts: callFacts("x86_64") },
  "system calls of aarch64": { prelude: AARCH64_CALLS, facts: callFacts("aarch64") },
};

const rooms = { prelude: LIBC_HEADERS, facts: ROOMS };
const absent = { prelude: AARCH64_CALLS, facts: absentFacts() };
const answers: Answers = HAS_HEADERS
  ? askHeaders([...Object.values(GROUPS), rooms, absent])
  : new Map();
const version = HAS_HEADERS ? headersVersion() : "?";

test("every file of ffi/abi is compared, or holds no numbers", () => {
  const compared = [
    ...[
      "arch",
      "attempt-calls",
      "errno",
      "file",
      "file-calls",
      "landlock",
      "libseccomp",
      "metadata-calls",
    ],
    ...["pidfd", "process", "ptrace", "seccomp", "socket", "syscall-numbers"],
  ];
  const withoutNumbers = ["brand", "struct", "syscall-filter"];
  const names = readdirSync(join(import.meta.dir, "../../ffi/abi"));
  expect(names.map((name) => name.replace(/\.ts$/, "")).sort()).toEqual(
    [...compared, ...withoutNumbers].sort(),
  );
});

test("every layout of ffi/abi is compared with a header", () => {
  expect(UNCOMPARED_LAYOUTS).toEqual([]);
});

describe.skipIf(!HAS_HEADERS).each(Object.entries(GROUPS))("%s", (_, { facts }) => {
  test("are what the headers say", () => {
    const known = facts.filter(({ name }) => answers.get(name) !== null);
    const ours = Object.fromEntries(known.map(({ name, ours }) => [name, ours]));
    const theirs = Object.fromEntries(known.map(({ name }) => [name, answers.get(name)]));
    expect<object>(ours).toEqual(theirs);
    expect(known.length).toBeGreaterThan(0);
  });

  // What these headers do not have is named in the report of the tests.
  const left = facts.filter(({ name }) => HAS_HEADERS && answers.get(name) === null);
  for (const [reason, group] of Map.groupBy(left, ({ guard }) => guard?.reason)) {
    const names = group.map(({ name }) => name).join(", ");
    test.skipIf(true)(`not in the headers of Linux ${version}: ${names} (${reason})`, () => {});
  }
});

test.skipIf(!HAS_HEADERS)("what no header guards is there", () => {
  const missing = [...Object.values(GROUPS), rooms]
    .flatMap(({ facts }) => facts)
    .filter(({ name, guard }) => guard === undefined && answers.get(name) === null);
  expect(missing).toEqual([]);
});

test.skipIf(!HAS_HEADERS)("calls that aarch64 is said to lack have no number there", () => {
  expect(absent.facts.filter(({ name }) => answers.get(name) !== null)).toEqual([]);
});

test.skipIf(!HAS_HEADERS).each([...ROOMS])("$name is room enough", ({ name, ours }) => {
  expect(ours).toBeGreaterThanOrEqual(answers.get(name) ?? Number.POSITIVE_INFINITY);
});
