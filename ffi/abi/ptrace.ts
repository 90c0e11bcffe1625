import type { Arch } from "./arch.ts";

export const PTRACE_DETACH = 17;
export const PTRACE_SYSCALL = 24;
export const PTRACE_GETEVENTMSG = 0x4201;
export const PTRACE_GETREGSET = 0x4204;
export const PTRACE_SEIZE = 0x4206;
export const PTRACE_INTERRUPT = 0x4207;

export const PTRACE_O_TRACESYSGOOD = 1;
export const PTRACE_O_TRACEEXEC = 0x10;
export const PTRACE_O_EXITKILL = 0x100000;

export const PTRACE_EVENT_EXEC = 4;

export const WNOHANG = 1;
export const WUNTRACED = 2;
/** Children of clone() without SIGCHLD too: a traced thread is one. */
export const WALL = 0x40000000;

export const NT_PRSTATUS = 1;
/** user_regs_struct on x86_64 (27 words), user_pt_regs on aarch64 (34). */
export const REGISTERS_BYTES_MAX = 34 * 8;
/** rsp, and sp. */
export const STACK_POINTER_AT: Readonly<Record<Arch, number>> = { x86_64: 19 * 8, aarch64: 31 * 8 };
/** The signal of a stop at a system call, with TRACESYSGOOD. */
export const SYSCALL_STOP_SIGNAL = 5 | 0x80;
