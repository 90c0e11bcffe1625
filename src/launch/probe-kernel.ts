import { Errno, errnoName } from "../../ffi/abi/errno.ts";
import { PTRACE_SEIZE } from "../../ffi/abi/ptrace.ts";
import {
  SECCOMP_FILTER_FLAG_NEW_LISTENER,
  SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
  SECCOMP_SET_MODE_FILTER,
} from "../../ffi/abi/seccomp.ts";
import { landlockAbi } from "../../ffi/calls/landlock.ts";
import { sys } from "../../ffi/calls/libc.ts";
import { readKernelText } from "../../ffi/calls/whole-file.ts";
import type { KernelFeatures } from "../plan/kernel-features.ts";

/** No process has it: what matters is which error the kernel gives first. */
const NO_PID = 0x7fff_fffe;
const CAP_SYS_PTRACE = 19n;

export function probeKernel(): KernelFeatures {
  return {
    release: readText("/proc/sys/kernel/osrelease") ?? "unknown",
    landlockAbi: landlockAbi(),
    ptraceRefusal: ptraceRefusal(),
    takesDescriptors: sys("pidfd_getfd", -1, 0, 0) === -Errno.EBADF,
    waitsKillable: knowsFilterFlags(
      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
    ),
  };
}

/** A filter at address zero: the kernel looks at the flags first, then fails to read it. */
function knowsFilterFlags(flags: number): boolean {
  return sys("seccomp", SECCOMP_SET_MODE_FILTER, flags, 0) === -Errno.EFAULT;
}

function ptraceRefusal(): string | null {
  const answer = sys("ptrace", PTRACE_SEIZE, NO_PID, 0, 0);
  if (answer !== -Errno.ESRCH) return `ptrace answers ${errnoName(-answer)}`;
  const scope = Number(readText("/proc/sys/kernel/yama/ptrace_scope") ?? "0");
  if (scope >= 3) return "kernel.yama.ptrace_scope is 3";
  if (scope === 2 && !hasCapability(CAP_SYS_PTRACE)) {
    return "kernel.yama.ptrace_scope is 2 and CAP_SYS_PTRACE is missing";
  }
  return null;
}

function hasCapability(number: bigint): boolean {
  const effective = /^CapEff:\t([0-9a-f]+)$/m.exec(readText("/proc/self/status") ?? "")?.[1];
  return effective !== undefined && ((BigInt(`0x${effective}`) >> number) & 1n) === 1n;
}

function readText(path: string): string | null {
  return readKernelText(path)?.trim() ?? null;
}
