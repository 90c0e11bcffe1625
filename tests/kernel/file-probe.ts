/**
 * Runs inside the sandbox: makes the calls it is given, one after the other, and prints what the
 * kernel answered to each. Calls go to the C library directly, so that no runtime is in between.
 */
import { dlopen, FFIType, ptr, read } from "bun:ffi";

/** `open` and its like leave the descriptor open, for calls that name it as `{fd}`. */
export type ProbeCall = readonly [name: string, ...args: (string | number)[]];

const { i32, i64_fast: long, ptr: pointer } = FFIType;
const { symbols: libc } = dlopen("libc.so.6", {
  syscall: { args: [long, long, long, long, long, long, long], returns: long },
  __errno_location: { args: [], returns: pointer },
  open: { args: [long, i32, i32], returns: i32 },
  creat: { args: [long, i32], returns: i32 },
  truncate: { args: [long, long], returns: i32 },
  rename: { args: [long, long], returns: i32 },
  link: { args: [long, long], returns: i32 },
  symlink: { args: [long, long], returns: i32 },
  unlink: { args: [long], returns: i32 },
  mkdir: { args: [long, i32], returns: i32 },
  rmdir: { args: [long], returns: i32 },
  mknod: { args: [long, i32, long], returns: i32 },
  chmod: { args: [long, i32], returns: i32 },
  lchown: { args: [long, i32, i32], returns: i32 },
  utimes: { args: [long, long], returns: i32 },
  fchmod: { args: [i32, i32], returns: i32 },
  fchown: { args: [i32, i32, i32], returns: i32 },
  futimens: { args: [i32, long], returns: i32 },
  fchmodat: { args: [i32, long, i32, i32], returns: i32 },
  removexattr: { args: [long, long], returns: i32 },
  setxattr: { args: [long, long, long, long, i32], returns: i32 },
  socket: { args: [i32, i32, i32], returns: i32 },
  bind: { args: [i32, long, i32], returns: i32 },
  connect: { args: [i32, long, i32], returns: i32 },
  kill: { args: [i32, i32], returns: i32 },
  access: { args: [long, i32], returns: i32 },
  opendir: { args: [long], returns: pointer },
});

const NAMES: Readonly<Record<number, string>> = {
  1: "EPERM",
  2: "ENOENT",
  3: "ESRCH",
  13: "EACCES",
  17: "EEXIST",
  18: "EXDEV",
  20: "ENOTDIR",
  22: "EINVAL",
  25: "ENOTTY",
  38: "ENOSYS",
  40: "ELOOP",
  95: "EOPNOTSUPP",
  111: "ECONNREFUSED",
};
const SYSCALLS = {
  openat2: 437,
  io_uring_setup: 425,
  memfd_create: process.arch === "x64" ? 319 : 279,
};
const AT_FDCWD = -100;
const keep: ArrayBuffer[] = [];
const last = { fd: -1 };

function bytes(data: Uint8Array): number {
  const storage = new ArrayBuffer(data.length + 1);
  new Uint8Array(storage).set(data);
  keep.push(storage);
  return Number(ptr(storage));
}
/** `{ppid}` is the supervisor: it is the parent of the command. */
const filled = (value: string | number): string =>
  String(value).replaceAll("{fd}", String(last.fd)).replaceAll("{ppid}", String(process.ppid));
const text = (value: string | number): number => bytes(Buffer.from(filled(value)));

function u64s(...values: number[]): number {
  const words = new BigUint64Array(values.length);
  for (const [index, value] of values.entries()) words[index] = BigInt(value);
  return bytes(new Uint8Array(words.buffer));
}

/** A sockaddr_un; a leading `@` makes the name abstract. */
function unixAddress(name: string): { address: number; length: number } {
  const path = name.startsWith("@") ? `\0${name.slice(1)}` : `${name}\0`;
  const data = Buffer.concat([Buffer.from([1, 0]), Buffer.from(path)]);
  return { address: bytes(data), length: data.length };
}

function onSocket(call: "bind" | "connect", name: string): number {
  const socket = libc.socket(1, 1, 0);
  const { address, length } = unixAddress(name);
  return libc[call](socket, address, length);
}

function make([name, a = 0, b = 0, c = 0]: ProbeCall): number {
  switch (name) {
    case "open":
      last.fd = libc.open(text(a), Number(b), 0o644);
      return last.fd;
    case "openat2":
      return Number(
        libc.syscall(SYSCALLS.openat2, AT_FDCWD, text(a), u64s(Number(b), 0, 0), 24, 0, 0),
      );
    case "creat":
    case "mkdir":
    case "chmod":
      return libc[name](text(a), Number(b));
    case "truncate":
      return libc.truncate(text(a), Number(b));
    case "rename":
    case "link":
    case "symlink":
      return libc[name](text(a), text(b));
    case "unlink":
    case "rmdir":
      return libc[name](text(a));
    case "opendir":
      return Number(libc.opendir(text(a))) === 0 ? -1 : 0;
    case "mknod":
      return libc.mknod(text(a), Number(b), Number(c));
    case "lchown":
      return libc.lchown(text(a), Number(b), Number(c));
    case "utimes":
      return libc.utimes(text(a), 0);
    case "fchmod":
      return libc.fchmod(last.fd, Number(a));
    case "fchown":
      return libc.fchown(last.fd, process.getuid?.() ?? 0, -1);
    case "futimens":
      return libc.futimens(last.fd, 0);
    case "fchmodat":
      return libc.fchmodat(last.fd, text(a), Number(b), 0);
    case "setxattr":
      return libc.setxattr(text(a), text(b), text("v"), 1, 0);
    case "removexattr":
      return libc.removexattr(text(a), text(b));
    case "bind":
    case "connect":
      return onSocket(name, String(a));
    case "kill":
      return libc.kill(a === "self" ? process.pid : Number(filled(a)), 0);
    case "io_uring_setup":
      return Number(
        libc.syscall(SYSCALLS.io_uring_setup, 1, bytes(new Uint8Array(120)), 0, 0, 0, 0),
      );
    case "memfd_create":
      last.fd = Number(libc.syscall(SYSCALLS.memfd_create, text("x"), 0, 0, 0, 0, 0));
      return last.fd;
    default:
      throw new Error(`there is no probe ${name}`);
  }
}

if (import.meta.main) {
  const calls = JSON.parse(process.argv[2] ?? "[]") as ProbeCall[];
  const answers = calls.map((call) => {
    if (make(call) >= 0) return "ok";
    const errno = read.i32(Number(libc.__errno_location()) as never, 0);
    return NAMES[errno] ?? `errno ${errno}`;
  });
  process.stdout.write(JSON.stringify(answers));
}
