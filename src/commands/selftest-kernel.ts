import { ATTEMPT_CALLS, CLONE_NEWUSER, TIOCSTI, X32_BIT } from "../../ffi/abi/attempt-calls.ts";
import { errnoName } from "../../ffi/abi/errno.ts";
import { O_RDONLY, O_RDWR } from "../../ffi/abi/file.ts";
import { PTRACE_DETACH, PTRACE_SEIZE, WALL } from "../../ffi/abi/ptrace.ts";
import {
  SECCOMP_FILTER_FLAG_NEW_LISTENER,
  SECCOMP_SET_MODE_FILTER,
} from "../../ffi/abi/seccomp.ts";
import { SYSCALL_NUMBERS } from "../../ffi/abi/syscall-numbers.ts";
import { FileCalls } from "../../ffi/calls/file.ts";
import { ARCH, sys, sysByNumber } from "../../ffi/calls/libc.ts";
import type { Attempt, Ground } from "./selftest-attempts.ts";

const NR = ATTEMPT_CALLS[ARCH];
const answer = (result: number): string => (result < 0 ? errnoName(-result) : "OK");

const onSupervisor = (
  id: string,
  title: string,
  make: (target: number, ground: Ground) => string,
): Attempt => ({
  id: `supervisor-${id}`,
  area: "supervisor",
  title,
  kind: "escape",
  refusals: ["EPERM", "EACCES"],
  controls: null,
  make: (ground) => make(ground.target, ground),
});

function open(path: string, flags: number): string {
  const files = new FileCalls();
  const fd = files.open(path, flags);
  if (fd >= 0) files.close(fd);
  return answer(fd);
}

/** Against the process that holds the sandbox; the control is another process of the user's. */
export const SUPERVISOR_ATTEMPTS: readonly Attempt[] = [
  onSupervisor("signal", "send the supervisor a signal", (pid) => answer(sys("kill", pid, 0))),
  onSupervisor("trace", "trace it", (pid) => {
    const result = sys("ptrace", PTRACE_SEIZE, pid, 0, 0);
    if (result === 0) {
      sys("kill", pid, 19);
      sys("wait4", pid, 0, WALL, 0);
      sys("ptrace", PTRACE_DETACH, pid, 0, 0);
      sys("kill", pid, 18);
    }
    return answer(result);
  }),
  onSupervisor("memory", "open its memory", (pid) => open(`/proc/${pid}/mem`, O_RDWR)),
  onSupervisor("environ", "read its environment", (pid) => open(`/proc/${pid}/environ`, O_RDONLY)),
  onSupervisor("descriptor", "take one of its descriptors", (pid) => {
    const pidfd = sys("pidfd_open", pid, 0);
    return answer(pidfd < 0 ? pidfd : sysByNumber(NR.pidfd_getfd, pidfd, 1, 0));
  }),
  onSupervisor("listener", "install a seccomp listener of one's own", () =>
    answer(sys("seccomp", SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, 0)),
  ),
];

/** A call with arguments that do nothing; without the filter the kernel complains of those. */
const call = (
  id: string,
  title: string,
  refusal: "EPERM" | "ENOSYS",
  make: () => number,
): Attempt => ({
  id: `kernel-${id}`,
  area: "kernel",
  title,
  kind: "escape",
  refusals: [refusal],
  controls: null,
  make: () => answer(make()),
});

export const KERNEL_ATTEMPTS: readonly Attempt[] = [
  call("io-uring", "io_uring, whose work no filter sees", "ENOSYS", () =>
    sysByNumber(NR.io_uring_setup, 1, 0),
  ),
  call("unshare", "a user namespace", "EPERM", () => sysByNumber(NR.unshare, CLONE_NEWUSER)),
  call("setns", "another namespace", "EPERM", () => sysByNumber(NR.setns, -1, 0)),
  call("mount", "mount", "EPERM", () => sysByNumber(NR.mount, 0, 0, 0, 0, 0)),
  call("chroot", "chroot", "EPERM", () => sysByNumber(NR.chroot, 0)),
  call("bpf", "bpf", "EPERM", () => sysByNumber(NR.bpf, -1, 0, 0)),
  call("userfaultfd", "userfaultfd", "EPERM", () => sysByNumber(NR.userfaultfd, 1 << 30)),
  call("perf", "perf_event_open", "EPERM", () => sysByNumber(NR.perf_event_open, 0, 0, 0, 0, 0)),
  call("handle", "a file by its handle", "EPERM", () =>
    sysByNumber(NR.open_by_handle_at, -1, 0, 0),
  ),
  call("keyctl", "the kernel's keyrings", "EPERM", () => sysByNumber(NR.keyctl, -1)),
  call("tiocsti", "keystrokes for the terminal (TIOCSTI)", "EPERM", () =>
    sys("ioctl", 0, TIOCSTI, 0),
  ),
  {
    id: "kernel-x32",
    area: "kernel",
    title: "system calls of another ABI (x32)",
    kind: "escape",
    refusals: ["ENOSYS"],
    controls: null,
    make: () => {
      const bit = X32_BIT[ARCH];
      if (bit === null) return "n/a: this machine has no such ABI";
      return answer(sysByNumber(bit + SYSCALL_NUMBERS[ARCH].getppid));
    },
  },
];
