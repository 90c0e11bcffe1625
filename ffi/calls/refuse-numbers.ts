import { type Arch, AUDIT_ARCH } from "../abi/arch.ts";
import { Errno } from "../abi/errno.ts";
import { SCMP_ACT_ERRNO } from "../abi/libseccomp.ts";
import { SeccompData } from "../abi/seccomp.ts";
import type { FilterRule } from "../abi/syscall-filter.ts";

const LD_W_ABS = 0x20;
const JMP_JEQ_K = 0x15;
const RET_K = 0x06;

/**
 * BPF to put in front of a program: refuses calls by number and lets all else fall through. It is
 * for calls newer than libseccomp's names, whose numbers it cannot translate to another machine.
 */
export function refuseNumbers(rules: readonly FilterRule[], arch: Arch): Buffer {
  if (rules.length === 0) return Buffer.alloc(0);
  const pairs = rules.flatMap((rule) => {
    if (rule.number === undefined) throw new Error(`libseccomp does not know ${rule.call}`);
    if (rule.action === "notify" || rule.when.length > 0) {
      throw new Error(`${rule.call} has no name in libseccomp, so it can only be refused`);
    }
    const refusal = (SCMP_ACT_ERRNO | Errno[rule.action]) >>> 0;
    return [instruction(JMP_JEQ_K, rule.number, { no: 1 }), instruction(RET_K, refusal)];
  });
  return Buffer.concat([
    instruction(LD_W_ABS, SeccompData.at.arch),
    // A foreign ABI has other numbers; what follows refuses it altogether.
    instruction(JMP_JEQ_K, AUDIT_ARCH[arch], { no: pairs.length + 1 }),
    instruction(LD_W_ABS, SeccompData.at.nr),
    ...pairs,
  ]);
}

/** A struct sock_filter; `no` is how many instructions to skip when a comparison fails. */
function instruction(code: number, constant: number, jump: { readonly no?: number } = {}): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(jump.no ?? 0, 3);
  bytes.writeUInt32LE(constant, 4);
  return bytes;
}
