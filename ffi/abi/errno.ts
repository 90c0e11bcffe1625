/** The errors Faraday tells apart or answers with; the same numbers on x86_64 and aarch64. */
export const Errno = {
  EPERM: 1,
  ENOENT: 2,
  ESRCH: 3,
  EINTR: 4,
  EIO: 5,
  E2BIG: 7,
  ENOEXEC: 8,
  EBADF: 9,
  ECHILD: 10,
  EAGAIN: 11,
  EACCES: 13,
  EFAULT: 14,
  EEXIST: 17,
  EXDEV: 18,
  ENOTDIR: 20,
  EISDIR: 21,
  EINVAL: 22,
  ENOTTY: 25,
  ENOSPC: 28,
  EROFS: 30,
  EPIPE: 32,
  ERANGE: 34,
  ENAMETOOLONG: 36,
  ENOSYS: 38,
  ELOOP: 40,
  EPROTOTYPE: 91,
  EPROTONOSUPPORT: 93,
  EOPNOTSUPP: 95,
  EAFNOSUPPORT: 97,
  EISCONN: 106,
  ECONNREFUSED: 111,
  EALREADY: 114,
  EINPROGRESS: 115,
} as const;

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(Errno).map(([name, number]) => [number, name]),
);

export function errnoName(errno: number): string {
  return NAMES.get(errno) ?? `errno ${errno}`;
}
