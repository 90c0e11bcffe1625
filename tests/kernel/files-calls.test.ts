/** Every call that opens, makes, moves or removes files, inside the grants and outside. */
import { describe, expect, test } from "bun:test";
import type { ProbeCall } from "./file-probe.ts";
import { Playground } from "./sealed-run.ts";

const O_WRONLY = 1;
const O_RDWR = 2;
const O_CREAT = 0o100;
const O_TRUNC = 0o1000;
const O_PATH = 0o10000000;
const O_TMPFILE = 0o20200000;
const S_IFIFO = 0o010000;
const S_IFCHR = 0o020000;
const S_IFREG = 0o100000;

/** `in` may be read and written, `ro` may be read, `out` is not granted, `wo` may be written. */
const TABLE = `
allow_globs = ["$T/in/**"]
read_globs = ["$T/ro/**", "$T/single"]
write_globs = ["$T/wo/**"]
`;

function playground(): Playground {
  const place = new Playground();
  for (const tree of ["in", "ro", "out", "wo"]) {
    for (const name of ["file", "victim", "moved", "other"]) place.file(`${tree}/${name}`);
    place.directory(`${tree}/empty`);
    place.directory(`${tree}/sub`);
  }
  place.file("single");
  return place;
}

interface Row {
  readonly what: string;
  readonly calls: readonly ProbeCall[];
  readonly answers: readonly string[];
}

const NO = "EACCES";

const ROWS: readonly Row[] = [
  {
    what: "open for reading",
    calls: ["in", "ro", "out", "wo"].map((tree) => ["open", `$T/${tree}/file`, 0]),
    answers: ["ok", "ok", NO, NO],
  },
  {
    what: "open for writing",
    calls: ["in", "wo", "ro", "out"].map((tree) => ["open", `$T/${tree}/file`, O_WRONLY]),
    answers: ["ok", "ok", NO, NO],
  },
  {
    what: "a single file that may be read",
    calls: [
      ["open", "$T/single", 0],
      ["open", "$T/single", O_RDWR],
      ["unlink", "$T/single"],
    ],
    answers: ["ok", NO, NO],
  },
  {
    what: "openat2",
    calls: [
      ["openat2", "$T/in/file", O_RDWR],
      ["openat2", "$T/ro/file", 0],
      ["openat2", "$T/ro/file", O_RDWR],
      ["openat2", "$T/out/file", 0],
    ],
    answers: ["ok", "ok", NO, NO],
  },
  {
    what: "creat",
    calls: ["in", "wo", "ro", "out"].map((tree) => ["creat", `$T/${tree}/new`, 0o644]),
    answers: ["ok", "ok", NO, NO],
  },
  {
    what: "O_TMPFILE",
    calls: ["in", "ro", "out"].map((tree) => ["open", `$T/${tree}`, O_TMPFILE | O_RDWR]),
    answers: ["ok", NO, NO],
  },
  {
    what: "truncate by path",
    calls: ["in", "ro", "out"].map((tree) => ["truncate", `$T/${tree}/file`, 1]),
    answers: ["ok", NO, NO],
  },
  {
    what: "a read-only open that truncates",
    calls: ["in", "ro", "out"].map((tree) => ["open", `$T/${tree}/file`, O_TRUNC]),
    answers: ["ok", NO, NO],
  },
  {
    what: "rename",
    calls: [
      ["rename", "$T/in/file", "$T/in/file2"],
      ["rename", "$T/in/file2", "$T/in/sub/file2"],
      ["rename", "$T/ro/file", "$T/ro/file2"],
      ["rename", "$T/in/moved", "$T/out/moved"],
      ["rename", "$T/out/moved", "$T/in/stolen"],
      ["rename", "$T/in/moved", "$T/out/victim"],
    ],
    answers: ["ok", "ok", NO, NO, NO, NO],
  },
  {
    what: "link",
    calls: [
      ["link", "$T/in/file", "$T/in/sub/linked"],
      ["link", "$T/ro/file", "$T/in/linked"],
      ["link", "$T/out/file", "$T/in/linked2"],
      ["link", "$T/in/file", "$T/out/linked"],
    ],
    answers: ["ok", "EXDEV", "EXDEV", NO],
  },
  {
    what: "symbolic links that lead out",
    calls: [
      ["symlink", "$T/in/file", "$T/in/inner"],
      ["open", "$T/in/inner", O_RDWR],
      ["symlink", "$T/out/file", "$T/in/outer"],
      ["open", "$T/in/outer", 0],
      ["symlink", "$T/out", "$T/in/tree"],
      ["open", "$T/in/tree/file", 0],
      ["creat", "$T/in/tree/new", 0o644],
      ["symlink", "x", "$T/out/made"],
    ],
    answers: ["ok", "ok", "ok", NO, "ok", NO, NO, NO],
  },
  {
    what: "unlink",
    calls: ["in", "wo", "ro", "out"].map((tree) => ["unlink", `$T/${tree}/victim`]),
    answers: ["ok", "ok", NO, NO],
  },
  {
    what: "mkdir and rmdir",
    calls: [
      ["mkdir", "$T/in/made", 0o755],
      ["rmdir", "$T/in/empty"],
      ["mkdir", "$T/ro/made", 0o755],
      ["rmdir", "$T/ro/empty"],
      ["mkdir", "$T/out/made", 0o755],
      ["rmdir", "$T/out/empty"],
    ],
    answers: ["ok", "ok", NO, NO, NO, NO],
  },
  {
    what: "mknod: files and pipes where writing is granted, devices nowhere",
    calls: [
      ["mknod", "$T/in/reg", S_IFREG | 0o644, 0],
      ["mknod", "$T/in/pipe", S_IFIFO | 0o644, 0],
      ["mknod", "$T/out/pipe", S_IFIFO | 0o644, 0],
      ["mknod", "$T/in/null", S_IFCHR | 0o644, 0x103],
    ],
    answers: ["ok", "ok", NO, NO],
  },
  {
    what: "unix sockets are made by bind",
    calls: [
      ["bind", "$T/in/sock"],
      ["bind", "$T/ro/sock"],
      ["bind", "$T/out/sock"],
    ],
    answers: ["ok", NO, NO],
  },
  {
    what: "listing",
    calls: ["in", "ro", "out", "wo"].map((tree) => ["opendir", `$T/${tree}`]),
    answers: ["ok", "ok", NO, NO],
  },
  {
    what: "an O_PATH descriptor opens nothing that its path would not",
    calls: [
      ["open", "$T/in/file", O_PATH],
      ["open", "/proc/self/fd/{fd}", O_RDWR],
      ["open", "$T/out/file", O_PATH],
      ["open", "/proc/self/fd/{fd}", 0],
      ["open", "$T/out", O_PATH],
      ["open", "/proc/self/fd/{fd}/file", 0],
    ],
    answers: ["ok", "ok", "ok", NO, "ok", NO],
  },
  {
    what: "a descriptor for reading does not become one for writing",
    calls: [
      ["open", "$T/ro/file", 0],
      ["open", "/proc/self/fd/{fd}", O_RDWR],
      ["open", "$T/in/file", 0],
      ["open", "/proc/self/fd/{fd}", O_RDWR],
    ],
    answers: ["ok", NO, "ok", "ok"],
  },
  {
    what: "the root and the working directory of a process are no way around",
    calls: [
      ["open", "/proc/self/root/$T/out/file", 0],
      ["open", "/proc/self/cwd/out/file", 0],
      ["open", "/proc/self/cwd/in/file", 0],
    ],
    answers: [NO, NO, "ok"],
  },
  {
    what: "io_uring, which would open files unseen, and memory files, which are nobody's",
    calls: [["io_uring_setup"], ["memfd_create"], ["open", "/proc/self/fd/{fd}", O_RDWR]],
    answers: ["ENOSYS", "ok", "ok"],
  },
];

describe("the kernel answers", () => {
  test.each(ROWS.map((row) => [row.what, row] as const))("%s", (_, { calls, answers }) => {
    using place = playground();
    expect(place.probe(TABLE, calls)).toEqual([...answers]);
  });

  test("the same calls work without a seal, so that what is denied is denied by it", () => {
    const calls: ProbeCall[] = ["in", "ro", "out"].flatMap((tree): ProbeCall[] => [
      ["open", `$T/${tree}/file`, O_RDWR],
      ["creat", `$T/${tree}/new`, 0o644],
      ["truncate", `$T/${tree}/file`, 1],
      ["link", `$T/${tree}/file`, `$T/${tree}/linked`],
      ["rename", `$T/${tree}/moved`, `$T/${tree}/moved2`],
      ["unlink", `$T/${tree}/victim`],
      ["mkdir", `$T/${tree}/made`, 0o755],
      ["rmdir", `$T/${tree}/empty`],
      ["bind", `$T/${tree}/sock`],
    ]);
    using place = playground();
    const ran = Bun.spawnSync([
      process.execPath,
      `${import.meta.dir}/file-probe.ts`,
      JSON.stringify(calls).replaceAll("$T", place.path),
    ]);
    expect(JSON.parse(ran.stdout.toString())).toEqual(calls.map(() => "ok"));
  });
});

test("O_CREAT on a file that is there needs no right to create", () => {
  using place = playground();
  const table = 'allow_globs = ["$T/in/file"]';
  const calls: ProbeCall[] = [
    ["open", "$T/in/file", O_RDWR | O_CREAT],
    ["open", "$T/in/fresh", O_RDWR | O_CREAT],
  ];
  expect(place.probe(table, calls)).toEqual(["ok", NO]);
});
