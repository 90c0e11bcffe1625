import { type Arch, AUDIT_ARCH } from "./arch.ts";
import { i32, struct, u32, u64 } from "./struct.ts";

/** SCMP_ARCH_*: libseccomp calls a machine what the kernel's audit calls it. */
export const SCMP_ARCH: Readonly<Record<Arch, number>> = AUDIT_ARCH;

export const SCMP_ACT_ALLOW = 0x7fff0000;
export const SCMP_ACT_NOTIFY = 0x7fc00000;
export const SCMP_ACT_ERRNO = 0x00050000;

export const SCMP_FLTATR_ACT_BADARCH = 2;
export const SCMP_FLTATR_CTL_OPTIMIZE = 8;

export const SCMP_CMP_NE = 1;
export const SCMP_CMP_GE = 5;
export const SCMP_CMP_MASKED_EQ = 7;

export const ScmpArgCmp = struct({ arg: u32, op: i32, datumA: u64, datumB: u64 });
/** What seccomp_syscall_resolve_name answers for a name it does not know. */
export const NR_SCMP_ERROR = -1;
