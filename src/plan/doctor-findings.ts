import {
  FS_RIGHTS,
  type FsRight,
  NET_SINCE_ABI,
  SCOPES_SINCE_ABI,
} from "../../ffi/abi/landlock.ts";

/** What `doctor` found out by trying, never by the kernel's version. */
export interface MachineFacts {
  readonly system: string;
  readonly release: string;
  readonly arch: string;
  readonly supportsArch: boolean;
  readonly landlockAbi: number;
  /** Why there is no Landlock, as an errno name; null if there is. */
  readonly landlockError: string | null;
  /** Errno name of the attempt to enter a domain; null if it worked. */
  readonly landlockDomainError: string | null;
  readonly noNewPrivsError: string | null;
  /** Errno name of the attempt to install a filter with a listener; null if it worked. */
  readonly listenerError: string | null;
  readonly hasWaitKillable: boolean;
  readonly hasSyncWakeUp: boolean;
  readonly takesDescriptors: boolean;
  readonly ptraceRefusal: string | null;
  /** Null where Yama is not built in. */
  readonly ptraceScope: number | null;
  readonly hasProc: boolean;
  readonly containerHints: readonly string[];
}

export interface Finding {
  readonly id: string;
  /** `missing`: the default policy cannot be enforced. `limit`: something weaker or slower. */
  readonly state: "ok" | "limit" | "missing" | "note";
  readonly value: string;
  /** What it costs, where it costs something. */
  readonly cost: string | null;
}

/** What each right is for, told by what an agent can do where the kernel cannot restrict it. */
const RIGHT_COSTS: Partial<Record<FsRight, string>> = {
  refer: "renames and links between directories always fail in sealed runs (Linux 5.19)",
  truncate: "truncate(2) by path and read-only opens that truncate are refused (Linux 6.2)",
  ioctl_dev: "ioctl on device files that may be opened is not restricted (Linux 6.10)",
  resolve_unix: "unix sockets are held by the supervisor alone, without a second layer (Linux 7.1)",
};
const SCOPES_COST = "the command can signal its supervisor, which ends the run (Linux 6.12)";

export function doctorFindings(facts: MachineFacts): readonly Finding[] {
  return [
    {
      id: "kernel",
      state: facts.system === "Linux" && facts.supportsArch ? "ok" : "missing",
      value: `${facts.system} ${facts.release} ${facts.arch}`,
      cost: facts.supportsArch ? null : "faraday knows the system calls of x86_64 and aarch64 only",
    },
    step("proc", facts.hasProc ? null : "not mounted", "nothing can be judged without /proc"),
    step(
      "no-new-privs",
      facts.noNewPrivsError,
      "neither a filter nor a Landlock domain can be entered without it",
    ),
    ...seccompFindings(facts),
    ...ptraceFindings(facts),
    ...landlockFindings(facts),
    ...networkFindings(facts),
    ...facts.containerHints.map(
      (hint): Finding => ({ id: "container", state: "note", value: hint, cost: null }),
    ),
  ];
}

function step(id: string, error: string | null, cost: string): Finding {
  if (error === null) return { id, state: "ok", value: "works", cost: null };
  return { id, state: "missing", value: error, cost };
}

function seccompFindings(facts: MachineFacts): Finding[] {
  const listener = step(
    "seccomp-listener",
    facts.listenerError,
    "programs cannot be judged: a filter with a listener is needed (Linux 5.0; inside a " +
      "container its seccomp profile must allow seccomp)",
  );
  if (facts.listenerError !== null) return [listener];
  return [
    listener,
    option(
      "seccomp-wait-killable",
      facts.hasWaitKillable,
      "signals restart a call while it is judged, which costs time (Linux 5.19)",
    ),
    option(
      "seccomp-sync-wake-up",
      facts.hasSyncWakeUp,
      "every verdict takes 3 to 6 times as long (Linux 6.6)",
    ),
  ];
}

function option(id: string, isThere: boolean, cost: string): Finding {
  if (isThere) return { id, state: "ok", value: "works", cost: null };
  return { id, state: "limit", value: "not there", cost };
}

function ptraceFindings({ ptraceRefusal, ptraceScope }: MachineFacts): Finding[] {
  const scope = ptraceScope === null ? "no Yama" : `kernel.yama.ptrace_scope is ${ptraceScope}`;
  if (ptraceRefusal === null) return [{ id: "ptrace", state: "ok", value: scope, cost: null }];
  return [
    {
      id: "ptrace",
      state: "missing",
      value: ptraceRefusal,
      cost: "execs cannot be verified, so a thread can change what was judged",
    },
  ];
}

function landlockFindings(facts: MachineFacts): Finding[] {
  const { landlockAbi: abi } = facts;
  const error = facts.landlockError ?? facts.landlockDomainError;
  if (abi < 1 || error !== null) {
    return [
      {
        id: "landlock",
        state: "missing",
        value: landlockReason(facts),
        cost: "files cannot be sealed, and nothing keeps the command from its supervisor",
      },
    ];
  }
  const rights = FS_RIGHTS.filter(({ sinceAbi }) => sinceAbi > abi).map(
    ({ name }): Finding => ({
      id: `landlock-${name}`,
      state: "limit",
      value: "not there",
      cost: RIGHT_COSTS[name] ?? null,
    }),
  );
  const scopes: Finding[] =
    abi >= SCOPES_SINCE_ABI
      ? []
      : [{ id: "landlock-scopes", state: "limit", value: "not there", cost: SCOPES_COST }];
  return [{ id: "landlock", state: "ok", value: `ABI ${abi}`, cost: null }, ...rights, ...scopes];
}

/** What `kernel_pin` and `--block-net` need besides the filter. */
function networkFindings({ takesDescriptors, landlockAbi }: MachineFacts): Finding[] {
  const pin = option(
    "pidfd-getfd",
    takesDescriptors,
    "kernel_pin and --block-net cannot be enforced, nor unix sockets be judged (Linux 5.6)",
  );
  if (landlockAbi < 1 || landlockAbi >= NET_SINCE_ABI) return [pin];
  const cost = "kernel_pin has no second layer for TCP (Linux 6.7)";
  return [pin, { id: "landlock-net", state: "limit", value: "not there", cost }];
}

function landlockReason({ landlockError, landlockDomainError }: MachineFacts): string {
  if (landlockError === "ENOSYS") return "the kernel was built without it (ENOSYS)";
  if (landlockError === "EOPNOTSUPP") return "switched off at boot (add landlock to `lsm=`)";
  return landlockError ?? landlockDomainError ?? "not there";
}
