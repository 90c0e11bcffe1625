import { existsSync, readFileSync } from "node:fs";
import { archOf } from "../../ffi/abi/arch.ts";
import type { Fd } from "../../ffi/abi/brand.ts";
import { errnoName } from "../../ffi/abi/errno.ts";
import { PR_SET_NO_NEW_PRIVS } from "../../ffi/abi/process.ts";
import {
  SECCOMP_IOCTL_NOTIF_SET_FLAGS,
  SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP,
} from "../../ffi/abi/seccomp.ts";
import { installFilter } from "../../ffi/calls/filter.ts";
import { createRuleset, landlockVersion, restrictSelf } from "../../ffi/calls/landlock.ts";
import { sys } from "../../ffi/calls/libc.ts";
import { prctl } from "../../ffi/calls/process.ts";
import type { MachineFacts } from "../plan/doctor-findings.ts";
import { guardDomain } from "../plan/guard-domain.ts";
import { probeKernel } from "./probe-kernel.ts";

/** One instruction: return SECCOMP_RET_ALLOW. */
const ALLOW_EVERYTHING = Uint8Array.of(6, 0, 0, 0, 0, 0, 0xff, 0x7f);

/**
 * Tries everything that `run` will do, on this very process: afterwards it has a filter that
 * allows all and a domain that forbids nothing it needs, so it is good for printing and exiting.
 */
export function probeMachine(): MachineFacts {
  const kernel = probeKernel();
  const hints = containerHints();
  const version = landlockVersion();
  const noNewPrivsError = errorOf(prctl(PR_SET_NO_NEW_PRIVS, 1));
  const listener = installFilter(ALLOW_EVERYTHING);
  const isSynchronous =
    listener >= 0 &&
    sys("ioctl", listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) === 0;
  return {
    system: process.platform === "linux" ? "Linux" : process.platform,
    release: kernel.release,
    arch: process.arch,
    supportsArch: archOf(process.arch) !== null,
    landlockAbi: kernel.landlockAbi,
    landlockError: errorOf(version),
    landlockDomainError: version < 0 ? null : domainError(kernel.landlockAbi),
    noNewPrivsError,
    listenerError: errorOf(listener),
    hasWaitKillable: kernel.waitsKillable,
    takesDescriptors: kernel.takesDescriptors,
    hasSyncWakeUp: isSynchronous,
    ptraceRefusal: kernel.ptraceRefusal,
    ptraceScope: ptraceScope(),
    hasProc: existsSync("/proc/self/status"),
    containerHints: hints,
  };
}

const errorOf = (result: number): string | null => (result < 0 ? errnoName(-result) : null);

function domainError(landlockAbi: number): string | null {
  const plan = guardDomain(landlockAbi);
  // ABI 1 has no domain that would be harmless; creating rulesets works, or there were no version.
  if (plan === null || plan.handledFs !== 0) return null;
  const ruleset = createRuleset(plan);
  if (ruleset < 0) return errnoName(-ruleset);
  return errorOf(restrictSelf(ruleset as Fd));
}

function ptraceScope(): number | null {
  const text = readText("/proc/sys/kernel/yama/ptrace_scope");
  return text === null ? null : Number(text);
}

function containerHints(): string[] {
  const hints: string[] = [];
  if (existsSync("/.dockerenv")) hints.push("this looks like a Docker container");
  if (existsSync("/run/.containerenv")) hints.push("this looks like a Podman container");
  if (/microsoft/i.test(readText("/proc/version") ?? "")) hints.push("this looks like WSL");
  if (/gvisor/i.test(readText("/proc/version") ?? "")) hints.push("this looks like gVisor");
  const status = readText("/proc/self/status") ?? "";
  if (/^Seccomp:\t2$/m.test(status)) {
    hints.push("a seccomp filter is in force already, as container runtimes install one");
  }
  if (/^NoNewPrivs:\t1$/m.test(status)) hints.push("no_new_privs was set before");
  return hints;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "latin1").trim();
  } catch {
    return null;
  }
}
