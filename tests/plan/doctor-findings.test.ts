import { describe, expect, test } from "bun:test";
import { FS_RIGHTS } from "../../ffi/abi/landlock.ts";
import { doctorFindings, type MachineFacts } from "../../src/plan/doctor-findings.ts";

const FIT: MachineFacts = {
  system: "Linux",
  release: "7.1.0",
  arch: "x64",
  supportsArch: true,
  landlockAbi: 9,
  landlockError: null,
  landlockDomainError: null,
  noNewPrivsError: null,
  listenerError: null,
  hasWaitKillable: true,
  hasSyncWakeUp: true,
  takesDescriptors: true,
  ptraceRefusal: null,
  ptraceScope: 1,
  hasProc: true,
  containerHints: [],
};

const states = (changes: Partial<MachineFacts>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    doctorFindings({ ...FIT, ...changes }).map(({ id, state }) => [id, state] as const),
  );

test("a machine that has everything has nothing to complain of", () => {
  expect(new Set(Object.values(states({})))).toEqual(new Set(["ok"]));
});

describe("what the default policy needs is missing, not limited", () => {
  test.each([
    { id: "kernel", changes: { supportsArch: false } },
    { id: "proc", changes: { hasProc: false } },
    { id: "no-new-privs", changes: { noNewPrivsError: "EPERM" } },
    { id: "seccomp-listener", changes: { listenerError: "EINVAL" } },
    { id: "ptrace", changes: { ptraceRefusal: "kernel.yama.ptrace_scope is 3" } },
    { id: "landlock", changes: { landlockAbi: 0, landlockError: "ENOSYS" } },
    { id: "landlock", changes: { landlockAbi: 0, landlockError: "EOPNOTSUPP" } },
    { id: "landlock", changes: { landlockDomainError: "EPERM" } },
  ])("$id: $changes", ({ id, changes }) => {
    expect(states(changes)[id]).toBe("missing");
  });
});

describe("what only costs something is a limit, with its cost", () => {
  test.each([
    { id: "seccomp-wait-killable", changes: { hasWaitKillable: false } },
    { id: "seccomp-sync-wake-up", changes: { hasSyncWakeUp: false } },
    { id: "pidfd-getfd", changes: { takesDescriptors: false } },
    { id: "landlock-net", changes: { landlockAbi: 3 } },
    { id: "landlock-refer", changes: { landlockAbi: 1 } },
    { id: "landlock-truncate", changes: { landlockAbi: 2 } },
    { id: "landlock-ioctl_dev", changes: { landlockAbi: 4 } },
    { id: "landlock-scopes", changes: { landlockAbi: 5 } },
    { id: "landlock-resolve_unix", changes: { landlockAbi: 8 } },
  ])("$id: $changes", ({ id, changes }) => {
    const found = doctorFindings({ ...FIT, ...changes }).find((each) => each.id === id);
    expect(found?.state).toBe("limit");
    expect(found?.cost).toMatch(/\(Linux \d+\.\d+\)/);
  });

  test("every right has its cost, whatever the ABI lacks", () => {
    const rights = doctorFindings({ ...FIT, landlockAbi: 1 }).filter(({ id }) =>
      FS_RIGHTS.some(({ name }) => id === `landlock-${name}`),
    );
    expect(rights.map(({ cost }) => cost)).not.toContain(null);
    expect(rights).toHaveLength(FS_RIGHTS.filter(({ sinceAbi }) => sinceAbi > 1).length);
  });
});
