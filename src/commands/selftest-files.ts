import { ATTEMPT_CALLS } from "../../ffi/abi/attempt-calls.ts";
import { errnoName } from "../../ffi/abi/errno.ts";
import { AT_FDCWD, O_RDONLY, O_RDWR, O_WRONLY } from "../../ffi/abi/file.ts";
import { FileCalls } from "../../ffi/calls/file.ts";
import { ARCH, KernelBuffer, sys, sysByNumber } from "../../ffi/calls/libc.ts";
import { type Attempt, type Ground, work } from "./selftest-attempts.ts";
import { Children } from "./selftest-child.ts";

const O_CREAT_EXCL = 0o300;
const NR = ATTEMPT_CALLS[ARCH];

const answer = (result: number): string => (result < 0 ? errnoName(-result) : "OK");
const address = (text: string): number => {
  const buffer = KernelBuffer.cstring(Buffer.from(text));
  kept.push(buffer);
  return buffer.address;
};
/** Memory that the kernel is handed must outlive the call. */
const kept: KernelBuffer[] = [];

function open(path: string, flags: number): string {
  const files = new FileCalls();
  const fd = files.open(path, flags, AT_FDCWD, 0o600);
  if (fd >= 0) files.close(fd);
  return answer(fd);
}

const file = (id: string, title: string, make: (ground: Ground) => string): Attempt => ({
  id: `file-${id}`,
  area: "files",
  title,
  kind: "escape",
  refusals: ["EACCES", "EPERM", "EXDEV"],
  controls: ["OK"],
  make,
});

export const FILE_ATTEMPTS: readonly Attempt[] = [
  work("files", "file-create", "create a file where that is granted", ({ free }) =>
    open(`${free}/created`, O_CREAT_EXCL | O_WRONLY),
  ),
  work("files", "file-read", "read it", ({ free }) => open(`${free}/created`, O_RDONLY)),
  file("read", "read a file that is not granted", ({ outside }) =>
    open(`${outside}/secret`, O_RDONLY),
  ),
  file("write", "write one", ({ outside }) => open(`${outside}/secret`, O_WRONLY)),
  file("create", "create one", ({ outside }) => open(`${outside}/new`, O_CREAT_EXCL | O_WRONLY)),
  file("truncate", "truncate one", ({ outside }) =>
    answer(sysByNumber(NR.truncate, address(`${outside}/truncated`), 0)),
  ),
  file("rename", "move one in from outside", ({ outside, work }) => {
    const [from, to] = [address(`${outside}/moved`), address(`${work}/moved`)];
    return answer(sysByNumber(NR.renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
  }),
  file("unlink", "remove one", ({ outside }) =>
    answer(sysByNumber(NR.unlinkat, AT_FDCWD, address(`${outside}/removed`), 0)),
  ),
  file("chmod", "change the mode of one", ({ outside }) =>
    answer(sys("fchmodat", AT_FDCWD, address(`${outside}/secret`), 0o640)),
  ),
  file("symlink", "read one through a symbolic link", ({ work }) =>
    open(`${work}/to-secret`, O_RDONLY),
  ),
  file("proc-root", "read one through /proc/self/root", ({ outside }) =>
    open(`/proc/self/root${outside}/secret`, O_RDONLY),
  ),
  file("shell", "write one from a shell", ({ outside }) => {
    const script = `echo x > ${outside}/from-shell`;
    const result = new Children().run("/bin/sh", ["sh", "-c", `( ${script} ) 2>/dev/null`]);
    return result.startsWith("exit ") ? "EACCES" : result;
  }),
  file("hole", "read a hole inside what is granted", ({ work }) =>
    open(`${work}/hole/secret`, O_RDONLY),
  ),
  file("hole-write", "write into the hole", ({ work }) => open(`${work}/hole/secret`, O_RDWR)),
];
