import { dlopen, FFIType, ptr, read } from "bun:ffi";
import { archOf } from "../abi/arch.ts";
import { type CallName, SYSCALL_NUMBERS } from "../abi/syscall-numbers.ts";

const { i32, i64_fast: long, ptr: pointer } = FFIType;

const SYMBOLS = {
  syscall: { args: [long, long, long, long, long, long, long], returns: long },
  __errno_location: { args: [], returns: pointer },
} as const;

/** What only the process that spawns needs: each symbol costs a stub that is compiled at start. */
const SPAWN_SYMBOLS = {
  eventfd_write: { args: [i32, long], returns: i32 },
  sigaction: { args: [i32, long, long], returns: i32 },
  posix_spawn: { args: [long, long, long, long, long, long], returns: i32 },
  posix_spawn_file_actions_init: { args: [long], returns: i32 },
  posix_spawn_file_actions_adddup2: { args: [long, i32, i32], returns: i32 },
  posix_spawn_file_actions_destroy: { args: [long], returns: i32 },
} as const;

/**
 * Where distributions keep the C library, absolutely: a bare "libc.so.6" would make the loader
 * look in the working directory when the name cannot be found elsewhere.
 */
const USUAL_PLACES: Readonly<Record<string, readonly string[]>> = {
  x64: ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/lib/ld-musl-x86_64.so.1"],
  arm64: ["/lib/aarch64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/lib/ld-musl-aarch64.so.1"],
};

/** The C library that this process has mapped already, for systems with places of their own. */
function mappedLibc(): string {
  // Loaded only here: node:fs costs a process more than a millisecond of its start-up.
  const { readFileSync } = require("node:fs") as typeof import("node:fs");
  const maps = readFileSync("/proc/self/maps", "latin1");
  const found = /\/\S*\/(?:libc\.so\.6|libc-2\.\d+\.so|ld-musl-[\w-]+\.so\.1)$/m.exec(maps);
  if (found === null) throw new Error("no C library among the mappings of this process");
  return found[0];
}

function openLibc() {
  for (const place of USUAL_PLACES[process.arch] ?? []) {
    try {
      return { place, symbols: dlopen(place, SYMBOLS).symbols };
    } catch {
      // Not there, or another system's; the next one may be it.
    }
  }
  const place = mappedLibc();
  return { place, symbols: dlopen(place, SYMBOLS).symbols };
}

const { place: libcPath, symbols: libc } = openLibc();

/** The C library's part in spawning. */
export function openSpawnLibc() {
  const { symbols } = dlopen(libcPath, SPAWN_SYMBOLS);
  const writer = symbols.eventfd_write as unknown as { readonly ptr?: number | bigint };
  if (writer.ptr === undefined) throw new Error("bun:ffi gives no native address");
  return { ...symbols, eventWriterAddress: Number(writer.ptr) };
}

export type SpawnLibc = ReturnType<typeof openSpawnLibc>;

const arch = archOf(process.arch);
if (arch === null) throw new Error(`no system call numbers for ${process.arch}`);
export const ARCH = arch;
const NR = SYSCALL_NUMBERS[arch];

const errnoAddress = (): number => Number(libc.__errno_location());

/** A function that does nothing at all, to be called by the kernel as a signal handler. */
export function idleHandlerAddress(): number {
  const { ptr: address } = libc.__errno_location as unknown as { readonly ptr?: number | bigint };
  if (address === undefined) throw new Error("bun:ffi gives no native address");
  return Number(address);
}

export function errno(): number {
  return read.i32(errnoAddress() as never, 0);
}

/** A raw system call. Below zero it is the negated errno, as the kernel itself returns it. */
export function sys(name: CallName, a = 0, b = 0, c = 0, d = 0, e = 0, f = 0): number {
  const result = Number(libc.syscall(NR[name], a, b, c, d, e, f));
  return result === -1 ? -errno() : result;
}

/** The same by number, for calls that Faraday makes only to see them refused. */
export function sysByNumber(number: number, ...words: readonly number[]): number {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = words;
  const result = Number(libc.syscall(number, a, b, c, d, e, f));
  return result === -1 ? -errno() : result;
}

/**
 * Memory that the kernel may be handed by address. The storage of small typed arrays moves; that
 * of an ArrayBuffer made for the purpose does not, so nothing else is ever passed to the kernel.
 */
export class KernelBuffer {
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly address: number;

  constructor(sizeBytes: number) {
    const storage = new ArrayBuffer(Math.max(sizeBytes, 1));
    this.bytes = Buffer.from(storage);
    this.view = new DataView(storage);
    this.address = Number(ptr(storage));
  }

  /** Writes text of single-byte characters and a NUL at `offset`; returns its address. */
  cstring(text: string, offset = 0): number {
    const end = this.bytes.write(text, offset, "latin1");
    this.bytes[offset + end] = 0;
    return this.address + offset;
  }

  /** An unsigned 64-bit number as a double: exact below 2^53, which user addresses are. */
  u64(offset: number): number {
    return (
      this.view.getUint32(offset + 4, true) * 0x1_0000_0000 + this.view.getUint32(offset, true)
    );
  }

  setU64(offset: number, value: number): void {
    this.view.setUint32(offset, value % 0x1_0000_0000, true);
    this.view.setUint32(offset + 4, Math.floor(value / 0x1_0000_0000), true);
  }

  static of(bytes: Uint8Array): KernelBuffer {
    const buffer = new KernelBuffer(bytes.length);
    buffer.bytes.set(bytes);
    return buffer;
  }

  /** `bytes` and a NUL. */
  static cstring(bytes: Uint8Array): KernelBuffer {
    const buffer = new KernelBuffer(bytes.length + 1);
    buffer.bytes.set(bytes);
    return buffer;
  }
}

/** A NULL-terminated `char *[]` and the strings it points to, in one piece of memory. */
export function stringVector(strings: readonly Uint8Array[]): KernelBuffer {
  const table = (strings.length + 1) * 8;
  const total = strings.reduce((sum, string) => sum + string.length + 1, table);
  const buffer = new KernelBuffer(total);
  let offset = table;
  for (const [index, string] of strings.entries()) {
    buffer.setU64(index * 8, buffer.address + offset);
    buffer.bytes.set(string, offset);
    offset += string.length + 1;
  }
  return buffer;
}
