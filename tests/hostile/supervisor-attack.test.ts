import { afterAll, describe, expect, test } from "bun:test";
import { Workplace } from "../kernel/faraday-run.ts";
import { isX64, PYTHON } from "../kernel/test-programs.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

/** Tries everything on the process whose id is given, and prints what was not refused. */
const ATTACK = `
import ctypes, errno, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
target = int(sys.argv[1]) if sys.argv[1] != "parent" else os.getppid()
X64 = ${isX64 ? "True" : "False"}
number = lambda x64, arm64: x64 if X64 else arm64
def call(name, nr, *args):
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    if libc.syscall(ctypes.c_long(nr), *words) >= 0: print(name)
def attempt(name, function, *args):
    try:
        function(*args)
        print(name)
    except OSError as error:
        pass
class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(4096)
local, remote = Iovec(ctypes.addressof(buffer), 8), Iovec(int(sys.argv[2]), 8)
limit = (ctypes.c_uint64 * 2)(3, 3)
mask = ctypes.c_uint64(1)
zero = ctypes.c_int(0)
attr = ctypes.create_string_buffer((48).to_bytes(4, "little") + bytes(44), 48)
tasks = [int(t) for t in os.listdir(f"/proc/{target}/task")]
for pid in dict.fromkeys([target, *tasks]):
    for number_ in (0, signal.SIGURG, signal.SIGCONT):
        attempt(f"kill {number_}", os.kill, pid, number_)
    call("tkill", number(200, 130), pid, signal.SIGURG)
    call("tgkill", number(234, 131), target, pid, signal.SIGURG)
    call("sched_setaffinity", number(203, 122), pid, 8, ctypes.byref(mask))
    call("sched_setscheduler", number(144, 119), pid, 0, ctypes.byref(zero))
    call("sched_setparam", number(142, 118), pid, ctypes.byref(zero))
    call("sched_setattr", number(314, 274), pid, attr, 0)
    call("setpriority", number(141, 140), 0, pid, 0)
    call("setpriority with high bits", number(141, 140), 2**32, 2**32 + pid, 0)
    call("ioprio_set", number(251, 30), 1, pid, 2 << 13)
    call("prlimit", number(302, 261), pid, 7, ctypes.byref(limit), 0)
    call("prlimit with high bits", number(302, 261), 2**32 + pid, 2**32 + 7, ctypes.byref(limit), 0)
    call("ptrace seize", number(101, 117), 0x4206, pid, 0, 0)
    call("migrate_pages", number(256, 238), pid, 8, ctypes.byref(mask), ctypes.byref(mask))
call("setpriority of the group", number(141, 140), 1, 0, 0)
call("setpriority of the user", number(141, 140), 2, os.getuid(), 0)
call("ioprio of the group", number(251, 30), 2, 0, 2 << 13)
here, there = ctypes.byref(local), ctypes.byref(remote)
call("process_vm_readv", number(310, 270), target, here, 1, there, 1, 0)
call("process_vm_writev", number(311, 271), target, here, 1, there, 1, 0)
call("kcmp", number(312, 272), target, os.getpid(), 0, 0, 0)
call("get_robust_list", number(274, 100), target, buffer, ctypes.byref(limit))
pidfd = os.pidfd_open(target)
attempt("pidfd_send_signal", signal.pidfd_send_signal, pidfd, signal.SIGURG)
for fd in range(0, 20): call("pidfd_getfd", 438, pidfd, fd, 0)
call("setns", number(308, 268), pidfd, 0x20000000)
for name in ("mem", "environ", "maps", "smaps", "auxv", "pagemap", "stack", "syscall", "io",
             "numa_maps", "personality"):
    def read():
        with open(f"/proc/{target}/{name}", "rb") as file: file.read(1)
    attempt(f"read {name}", read)
attempt("write mem", os.open, f"/proc/{target}/mem", os.O_WRONLY)
for name in ("exe", "cwd", "root"):
    attempt(f"readlink {name}", os.readlink, f"/proc/{target}/{name}")
for fd in range(0, 20):
    attempt(f"readlink fd", os.readlink, f"/proc/{target}/fd/{fd}")
    attempt(f"open fd", os.open, f"/proc/{target}/fd/{fd}", os.O_RDONLY)
print("done")
`;

/** An address of readable memory in a process that runs Python. */
const VICTIM = `
import ctypes, os, time
memory = ctypes.create_string_buffer(8)
print(os.getpid(), ctypes.addressof(memory), flush=True)
time.sleep(60)`;

describe("the command cannot touch its supervisor", () => {
  test("no signal, setting, trace or look gets through", async () => {
    const kept = await place.faraday([PYTHON, "-c", ATTACK, "parent", "4194304"]);
    expect(kept.stdout).toBe("done\n");
    expect(kept.exit).toBe(0);
  });

  test("nor any other process outside the sandbox", async () => {
    const victim = Bun.spawn([PYTHON, "-c", VICTIM], { stdout: "pipe" });
    try {
      // Python may write the words one by one, so a single read is not the whole line.
      let line = "";
      for await (const chunk of victim.stdout) {
        line += new TextDecoder().decode(chunk);
        if (line.endsWith("\n")) break;
      }
      const [pid = "", address = ""] = line.trim().split(" ");
      const bare = await place.bare([PYTHON, "-c", ATTACK, pid, address]);
      // The control: without Faraday nearly all of it works on a process of one's own.
      for (const name of ["kill 0", "read environ", "pidfd_send_signal", "prlimit"]) {
        expect(bare.stdout).toContain(name);
      }
      const kept = await place.faraday([PYTHON, "-c", ATTACK, pid, address]);
      expect(kept.stdout).toBe("done\n");
    } finally {
      victim.kill("SIGKILL");
    }
  });

  test("but it may do all that to processes of its own", async () => {
    const script = `
import subprocess, sys
victim = subprocess.Popen([sys.executable, "-c", sys.argv[2]], stdout=subprocess.PIPE, text=True)
pid, address = victim.stdout.readline().split()
attack = [sys.executable, "-c", sys.argv[1], pid, address]
print(subprocess.run(attack, capture_output=True, text=True).stdout)
victim.kill()`;
    const kept = await place.faraday([PYTHON, "-c", script, ATTACK, VICTIM]);
    for (const name of ["kill 0", "sched_setaffinity", "setpriority", "prlimit", "read environ"]) {
      expect(kept.stdout).toContain(`${name}\n`);
    }
  });

  test("a sandbox inside the sandbox is refused with a reason", async () => {
    const { words } = place.faradayWords(["/bin/true"]);
    const kept = await place.faraday(words);
    expect(kept.exit).toBe(126);
    expect(kept.stderr).toContain("faraday: ");
  });
});
