/** Modes, owners, times and attributes: Landlock has no right for them, the supervisor judges. */
import { describe, expect, test } from "bun:test";
import { readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { CHANGING_IOCTLS } from "../../ffi/abi/metadata-calls.ts";
import type { ProbeCall } from "./file-probe.ts";
import { Playground } from "./sealed-run.ts";
import { PYTHON } from "./test-programs.ts";

const TABLE = 'allow_globs = ["$T/in"]\nread_globs = ["$T/ro"]';
const NO = "EACCES";
const uid = process.getuid?.() ?? 0;

function playground(): Playground {
  const place = new Playground();
  for (const tree of ["in", "ro", "out"]) place.file(`${tree}/file`);
  symlinkSync("../out/file", join(place.path, "in/outer"));
  symlinkSync("file", join(place.path, "in/inner"));
  symlinkSync("../in/file", join(place.path, "out/back"));
  return place;
}

const trees = (call: (tree: string) => ProbeCall): ProbeCall[] => ["in", "ro", "out"].map(call);

describe("inside the write grants, and nowhere else", () => {
  test.each([
    { what: "chmod", calls: trees((tree) => ["chmod", `$T/${tree}/file`, 0o600]) },
    { what: "chown", calls: trees((tree) => ["lchown", `$T/${tree}/file`, uid, -1]) },
    { what: "utimes", calls: trees((tree) => ["utimes", `$T/${tree}/file`]) },
    { what: "setxattr", calls: trees((tree) => ["setxattr", `$T/${tree}/file`, "user.t"]) },
  ])("$what", ({ calls }) => {
    using place = playground();
    expect(place.probe(TABLE, calls)).toEqual(["ok", NO, NO]);
  });

  test("through a descriptor that is open for reading", () => {
    using place = playground();
    const calls: ProbeCall[] = ["in", "ro"].flatMap((tree): ProbeCall[] => [
      ["open", `$T/${tree}/file`, 0],
      ["fchmod", 0o600],
      ["fchown"],
      ["futimens"],
    ]);
    expect(place.probe(TABLE, calls)).toEqual(["ok", "ok", "ok", "ok", "ok", NO, NO, NO]);
  });

  test("through a directory's descriptor, and what leads to another place", () => {
    using place = playground();
    const O_PATH = 0o10000000;
    const calls: ProbeCall[] = [
      ["open", "$T/in", O_PATH],
      ["fchmodat", "file", 0o600],
      ["fchmodat", "../out/file", 0o600],
      ["chmod", "$T/in/inner", 0o600],
      ["chmod", "$T/in/outer", 0o600],
      ["chmod", "$T/out/back", 0o600],
      ["lchown", "$T/in/outer", uid, -1],
      ["lchown", "$T/out/back", uid, -1],
      ["open", "$T/out/file", O_PATH],
      ["chmod", "/proc/self/fd/{fd}", 0o600],
    ];
    expect(place.probe(TABLE, calls)).toEqual([
      ...["ok", "ok", NO, "ok", NO, "ok", "ok", NO, "ok", NO],
    ]);
  });

  test("without a seal all of it works, so that what is denied is denied by it", () => {
    using place = playground();
    const calls = trees((tree) => ["chmod", `$T/${tree}/file`, 0o640]);
    const words = JSON.stringify(calls).replaceAll("$T", place.path);
    const ran = Bun.spawnSync([process.execPath, `${import.meta.dir}/file-probe.ts`, words]);
    expect(JSON.parse(ran.stdout.toString())).toEqual(["ok", "ok", "ok"]);
  });
});

describe("the change is the one that was asked for", () => {
  test("mode, time and attribute arrive", () => {
    using place = playground();
    const script = [
      "chmod 4711 in/file && touch -d '2001-02-03 04:05:06 UTC' in/file",
      "touch -h -d '2001-02-03 04:05:06 UTC' in/outer",
      "cp -a in/file in/copy",
    ].join(" && ");
    const ran = place.run(["run", "-p", place.policy(TABLE), "--", "sh", "-c", script]);
    expect(ran.stderr).toBe("");
    const { mode, mtimeMs } = statSync(join(place.path, "in/copy"));
    expect(mode & 0o7777).toBe(0o4711);
    expect(mtimeMs).toBe(Date.UTC(2001, 1, 3, 4, 5, 6));
    expect(readFileSync(join(place.path, "in/copy"), "utf8")).toBe("content\n");
  });

  test("what is wrong with a call is told as the kernel would", () => {
    using place = playground();
    const calls: ProbeCall[] = [
      ["chmod", "$T/in/none", 0o600],
      ["chmod", "", 0o600],
      ["setxattr", "$T/in/file", "trusted.t"],
      ["removexattr", "$T/in/file", "user.t"],
    ];
    const answers = place.probe(TABLE, calls);
    expect(answers.slice(0, 3)).toEqual(["ENOENT", "ENOENT", "EPERM"]);
    expect(answers[3]).not.toBe("ok");
  });

  test("archives unpack with their modes", () => {
    using place = playground();
    place.file("in/tree/a", "a");
    place.file("in/tree/b", "b");
    Bun.spawnSync(["chmod", "0751", join(place.path, "in/tree/a")]);
    const script = "cd in && tar cf t.tar tree && mkdir x && tar xpf t.tar -C x";
    const ran = place.run(["run", "-p", place.policy(TABLE), "--", "sh", "-c", script]);
    expect(ran).toMatchObject({ exit: 0, stderr: "" });
    expect(statSync(join(place.path, "in/x/tree/a")).mode & 0o7777).toBe(0o751);
  });
});

/** Prints what the kernel says to each command on a descriptor that is open for reading. */
const IOCTL = `import errno, fcntl, os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
for command in sys.argv[2:]:
    try:
        fcntl.ioctl(file, int(command), bytearray(4096))
        print("ok")
    except OSError as error:
        print(errno.errorcode[error.errno])
`;

describe("commands that change a file through a descriptor for reading", () => {
  const answers = (commands: readonly number[]): readonly string[] => {
    using place = playground();
    const words = [PYTHON, "-c", IOCTL, join(place.path, "ro/file"), ...commands.map(String)];
    const ran = place.run(["run", "--policy", place.policy(TABLE), "--", ...words]);
    return ran.stdout.trim().split("\n");
  };

  test("are refused", () => {
    const commands = Object.values(CHANGING_IOCTLS);
    expect(answers(commands)).toEqual(commands.map(() => "EPERM"));
  });

  test("those that only look are not", () => {
    const FS_IOC_GETFLAGS = 0x8008_6601;
    const FS_IOC_GETVERSION = 0x8008_7601;
    const FIONREAD = 0x541b;
    const [flags, version, left] = answers([FS_IOC_GETFLAGS, FS_IOC_GETVERSION, FIONREAD]);
    // Not every file system has the first two.
    expect(["ok", "ENOTTY"]).toContain(flags ?? "");
    expect(["ok", "ENOTTY"]).toContain(version ?? "");
    expect(left).toBe("ok");
  });
});

test("the mode of a terminal is changed by who has it open, as mesg does", () => {
  using place = playground();
  const code = `import errno, os, pty
def attempt(change, *words):
    try:
        change(*words)
        print("ok")
    except OSError as error:
        print(errno.errorcode[error.errno])
main, terminal = pty.openpty()
attempt(os.fchmod, terminal, 0o600)
attempt(os.fchmod, os.open(os.ttyname(terminal), os.O_PATH), 0o666)
attempt(os.chmod, os.ttyname(terminal), 0o666)
attempt(os.fchmod, os.open("/dev/null", os.O_RDONLY), 0o666)
`;
  const ran = place.run(["run", "--policy", place.policy(TABLE), "--", PYTHON, "-c", code]);
  expect(ran.stdout.trim().split("\n")).toEqual(["ok", NO, NO, NO]);
});
