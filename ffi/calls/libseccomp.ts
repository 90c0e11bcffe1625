import { dlopen, FFIType } from "bun:ffi";
import { readFileSync } from "node:fs";
import libraryPath from "../../build/libseccomp.so" with { type: "file" };
import type { Arch } from "../abi/arch.ts";
import type { Fd } from "../abi/brand.ts";
import { Errno } from "../abi/errno.ts";
import { F_ADD_SEALS, F_SEAL_ALL, MFD_ALLOW_SEALING, MFD_CLOEXEC, MFD_EXEC } from "../abi/file.ts";
import {
  NR_SCMP_ERROR,
  SCMP_ACT_ALLOW,
  SCMP_ACT_ERRNO,
  SCMP_ACT_NOTIFY,
  SCMP_ARCH,
  SCMP_CMP_GE,
  SCMP_CMP_MASKED_EQ,
  SCMP_CMP_NE,
  SCMP_FLTATR_ACT_BADARCH,
  SCMP_FLTATR_CTL_OPTIMIZE,
  ScmpArgCmp,
} from "../abi/libseccomp.ts";
import type { ArgumentTest, FilterRule } from "../abi/syscall-filter.ts";
import { ARCH, KernelBuffer, sys } from "./libc.ts";
import { refuseNumbers } from "./refuse-numbers.ts";
import { writeAll } from "./socket.ts";

const { i32, u32, i64_fast: long, ptr } = FFIType;

function memfd(name: string, flags: number): Fd {
  const nameBuffer = KernelBuffer.cstring(Buffer.from(name));
  const fd = sys("memfd_create", nameBuffer.address, flags);
  if (fd < 0) throw new Error(`memfd_create: errno ${-fd}`);
  return fd as Fd;
}

/**
 * Loads the embedded library from a sealed memfd. Bun would extract it to a predictable file in
 * the temporary directory and trust whatever is there on the next run.
 */
function load() {
  const image = readFileSync(libraryPath);
  const flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const name = KernelBuffer.cstring(Buffer.from("libseccomp"));
  let fd = sys("memfd_create", name.address, flags | MFD_EXEC);
  if (fd === -Errno.EINVAL) fd = sys("memfd_create", name.address, flags);
  if (fd < 0 || writeAll(fd as Fd, image) < 0) throw new Error("cannot load libseccomp");
  sys("fcntl", fd, F_ADD_SEALS, F_SEAL_ALL);
  const { symbols } = dlopen(`/proc/self/fd/${fd}`, {
    seccomp_init: { args: [u32], returns: ptr },
    seccomp_release: { args: [ptr], returns: FFIType.void },
    seccomp_arch_add: { args: [ptr, u32], returns: i32 },
    seccomp_arch_remove: { args: [ptr, u32], returns: i32 },
    seccomp_attr_set: { args: [ptr, i32, u32], returns: i32 },
    seccomp_syscall_resolve_name: { args: [long], returns: i32 },
    seccomp_rule_add_array: { args: [ptr, u32, i32, u32, long], returns: i32 },
    seccomp_export_bpf: { args: [ptr, i32], returns: i32 },
  });
  sys("close", fd);
  return symbols;
}

const COMPARISONS: Readonly<Record<ArgumentTest["op"], number>> = {
  "masked-equal": SCMP_CMP_MASKED_EQ,
  "not-equal": SCMP_CMP_NE,
  "at-least": SCMP_CMP_GE,
};

function encodeTests(tests: readonly ArgumentTest[]): KernelBuffer {
  const buffer = new KernelBuffer(ScmpArgCmp.size * tests.length);
  for (const [index, test] of tests.entries()) {
    const base = index * ScmpArgCmp.size;
    const masked = test.op === "masked-equal";
    buffer.view.setUint32(base + ScmpArgCmp.at.arg, test.argument, true);
    buffer.view.setInt32(base + ScmpArgCmp.at.op, COMPARISONS[test.op], true);
    buffer.setU64(base + ScmpArgCmp.at.datumA, masked ? test.mask : test.value);
    buffer.setU64(base + ScmpArgCmp.at.datumB, masked ? test.value : 0);
  }
  return buffer;
}

/**
 * Compiles a filter to BPF for the native ABI of this machine, or of the one that a release is
 * built for. Everything that no rule names is allowed; calls through a foreign ABI fail with
 * ENOSYS, as on a kernel built without it.
 */
export function compileFilter(rules: readonly FilterRule[], arch: Arch = ARCH): Buffer {
  const lib = load();
  const context = lib.seccomp_init(SCMP_ACT_ALLOW);
  if (context === null) throw new Error("seccomp_init failed");
  const check = (result: number, what: string): void => {
    if (result < 0) throw new Error(`libseccomp: ${what}: errno ${-result}`);
  };
  if (arch !== ARCH) {
    check(lib.seccomp_arch_add(context, SCMP_ARCH[arch]), `add ${arch}`);
    check(lib.seccomp_arch_remove(context, SCMP_ARCH[ARCH]), `remove ${ARCH}`);
  }
  const badArch = (SCMP_ACT_ERRNO | Errno.ENOSYS) >>> 0;
  check(lib.seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, badArch), "bad arch");
  check(lib.seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2), "optimize");
  const unnamed: FilterRule[] = [];
  for (const rule of rules) {
    const name = KernelBuffer.cstring(Buffer.from(rule.call));
    // Numbers are this machine's, with negative ones for calls that it lacks. libseccomp translates
    // them to those of another machine.
    const nr = lib.seccomp_syscall_resolve_name(name.address);
    if (nr === NR_SCMP_ERROR) {
      unnamed.push(rule);
      continue;
    }
    if (nr < 0 && arch === ARCH) continue;
    const action =
      rule.action === "notify" ? SCMP_ACT_NOTIFY : (SCMP_ACT_ERRNO | Errno[rule.action]) >>> 0;
    const tests = encodeTests(rule.when);
    const added = lib.seccomp_rule_add_array(context, action, nr, rule.when.length, tests.address);
    check(added, rule.call);
  }
  const out = memfd("filter", MFD_CLOEXEC);
  check(lib.seccomp_export_bpf(context, out), "export");
  lib.seccomp_release(context);
  const program = readFileSync(`/proc/self/fd/${out}`);
  sys("close", out);
  return Buffer.concat([refuseNumbers(unnamed, arch), program]);
}
