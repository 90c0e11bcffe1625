/** What a seccomp filter looks at. */
export interface SeccompCall {
  readonly number: number;
  readonly arch: number;
  readonly args: readonly bigint[];
}

const INSTRUCTION_BYTES = 8;
const SECCOMP_DATA_BYTES = 64;
const ARGS_AT = 16;

const LD_W_ABS = 0x20;
const ALU_AND_K = 0x54;
const JMP_JA = 0x05;
const JMP_JEQ_K = 0x15;
const JMP_JGT_K = 0x25;
const JMP_JGE_K = 0x35;
const JMP_JSET_K = 0x45;
const RET_K = 0x06;

/**
 * Runs classic BPF as the kernel would; throws at an instruction that libseccomp does not make.
 * Jumps lead forward only, so every program ends.
 */
export function runFilter(program: Buffer, call: SeccompCall): number {
  const data = encode(call);
  let accumulator = 0;
  for (let at = 0; at < program.length; at += INSTRUCTION_BYTES) {
    const code = program.readUInt16LE(at);
    const constant = program.readUInt32LE(at + 4);
    const jump = (taken: boolean): void => {
      at += program.readUInt8(at + (taken ? 2 : 3)) * INSTRUCTION_BYTES;
    };
    if (code === RET_K) return constant;
    else if (code === LD_W_ABS) accumulator = data.readUInt32LE(constant);
    else if (code === ALU_AND_K) accumulator = (accumulator & constant) >>> 0;
    else if (code === JMP_JA) at += constant * INSTRUCTION_BYTES;
    else if (code === JMP_JEQ_K) jump(accumulator === constant);
    else if (code === JMP_JGT_K) jump(accumulator > constant);
    else if (code === JMP_JGE_K) jump(accumulator >= constant);
    else if (code === JMP_JSET_K) jump((accumulator & constant) !== 0);
    else throw new Error(`BPF instruction ${code.toString(16)} at ${at / INSTRUCTION_BYTES}`);
  }
  throw new Error("the program ends without a verdict");
}

function encode({ number, arch, args }: SeccompCall): Buffer {
  const data = Buffer.alloc(SECCOMP_DATA_BYTES);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(arch, 4);
  for (const [index, value] of args.entries()) {
    data.writeBigUInt64LE(BigInt.asUintN(64, value), ARGS_AT + index * 8);
  }
  return data;
}
