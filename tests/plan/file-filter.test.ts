import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AUDIT_ARCH, archOf } from "../../ffi/abi/arch.ts";
import { Errno } from "../../ffi/abi/errno.ts";
import { FILE_CALLS } from "../../ffi/abi/file-calls.ts";
import {
  CHANGING_IOCTLS,
  METADATA_CALLS,
  NEW_METADATA_CALLS,
} from "../../ffi/abi/metadata-calls.ts";
import { REPOSITORY } from "../../scripts/source-files.ts";
import { SEAL_KINDS, type SealKind, sealKind } from "../../src/plan/file-filter.ts";
import { runFilter } from "./bpf-machine.ts";

const arch = archOf(process.arch) ?? "x86_64";
const CAN_RUN = process.platform === "linux";
const NAMES = new Map([
  [0x7fff0000, "ALLOW"],
  [0x7fc00000, "NOTIFY"],
  [0x00050000 | Errno.EPERM, "EPERM"],
  [0x00050000 | Errno.ENOSYS, "ENOSYS"],
]);
const O_TRUNC = 0o1000;
const IOCTL = { x86_64: 16, aarch64: 29 } as const;

function verdict(kind: SealKind, number: number, args: readonly number[] = []): string {
  const text = readFileSync(join(REPOSITORY, "build/exec-filter.json"), "utf8");
  const program = Buffer.from(JSON.parse(text)[kind], "base64");
  const answer = runFilter(program, { number, arch: AUDIT_ARCH[arch], args: args.map(BigInt) });
  return NAMES.get(answer) ?? `0x${answer.toString(16)}`;
}

test.each([
  { abi: 1, kind: "sealed-old" },
  { abi: 2, kind: "sealed-old" },
  { abi: 3, kind: "sealed" },
  { abi: 9, kind: "sealed" },
])("ABI $abi takes the filter $kind", ({ abi, kind }) => {
  expect<string>(sealKind(abi, { explains: false })).toBe(kind);
  expect<string>(sealKind(abi, { explains: true })).toBe(kind.replace("sealed", "explained"));
});

describe.if(CAN_RUN)("the filter of a seal", () => {
  test.each([...SEAL_KINDS])("%s shows every change of metadata to the supervisor", (kind) => {
    for (const { numbers } of Object.values(METADATA_CALLS)) {
      const number = numbers[arch];
      if (number !== null) expect(verdict(kind, number)).toBe("NOTIFY");
    }
    for (const number of Object.values(NEW_METADATA_CALLS)) {
      expect(verdict(kind, number)).toBe("ENOSYS");
    }
    for (const command of Object.values(CHANGING_IOCTLS)) {
      expect(verdict(kind, IOCTL[arch], [3, command])).toBe("EPERM");
    }
    const FICLONE = 0x4004_9409;
    const FS_IOC_GETFLAGS = 0x8008_6601;
    for (const command of [0x5401, FICLONE, FS_IOC_GETFLAGS]) {
      expect(verdict(kind, IOCTL[arch], [3, command])).toBe("ALLOW");
    }
  });

  const { openat, openat2, truncate } = FILE_CALLS;
  const at = (shape: typeof openat): number => shape.numbers[arch] ?? -1;

  test.each([
    { what: "truncate(2)", number: at(truncate), args: [], old: "EPERM" },
    { what: "openat2, whose flags are hidden", number: at(openat2), args: [], old: "ENOSYS" },
    { what: "a read that truncates", number: at(openat), args: [0, 0, O_TRUNC], old: "EPERM" },
    { what: "mode 3 that truncates", number: at(openat), args: [0, 0, O_TRUNC | 3], old: "EPERM" },
    { what: "a write that truncates", number: at(openat), args: [0, 0, O_TRUNC | 1], old: "ALLOW" },
    { what: "a plain read", number: at(openat), args: [0, 0, 0], old: "ALLOW" },
  ])("before ABI 3 it stops what Landlock does not see: $what", ({ number, args, old }) => {
    expect(verdict("sealed-old", number, args)).toBe(old);
    expect(verdict("sealed", number, args)).toBe("ALLOW");
  });

  test("explaining shows all calls that Landlock judges, and refuses none of them", () => {
    for (const { numbers } of Object.values(FILE_CALLS)) {
      const number = numbers[arch];
      if (number !== null) expect(verdict("explained", number)).toBe("NOTIFY");
    }
  });
});
