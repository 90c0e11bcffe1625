/** What docs/threat-model.md says that Faraday does not stop, shown; each beside what does. */
import { afterAll, describe, expect, test } from "bun:test";
import { Workplace } from "../kernel/faraday-run.ts";
import { allowBut, compile, denyBut, exe, PYTHON } from "../kernel/test-programs.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

const LIBRARY = `#include <stdio.h>
__attribute__((constructor)) static void loaded(void) { puts("foreign code"); fflush(stdout); }`;

describe("a copy of a denied program", () => {
  const copy = place.at("innocent");
  const script = `/usr/bin/id -u; cp /usr/bin/id ${copy}; ${copy} -u`;

  test("runs under a policy that denies by name", async () => {
    const kept = await place.faraday(["sh", "-c", script], {
      policy: allowBut(exe("/usr/bin/id")),
    });
    expect(kept.stdout).toBe(`${process.getuid?.()}\n`);
    expect(kept.stderr).toContain("/usr/bin/id: Permission denied");
  });

  test("does not run where everything is denied but what is listed", async () => {
    const shell = exe("/usr/bin/sh", "/bin/sh", "/usr/bin/dash", "/usr/bin/cp", "/bin/cp");
    const kept = await place.faraday(["sh", "-c", script], { policy: denyBut(shell) });
    expect(kept.stdout).toBe("");
    expect(kept.stderr).toContain(`${copy}: Permission denied`);
  });
});

describe("what an interpreter does inside itself", () => {
  const policy = allowBut("argv_contains = 'forbidden'");

  test("is not seen if it comes through standard input", async () => {
    const kept = await place.faraday(["sh"], { policy, stdin: "echo forbidden\n" });
    expect(kept.stdout).toBe("forbidden\n");
  });

  test("is seen in its arguments", async () => {
    const kept = await place.faraday(["sh", "-c", "echo forbidden"], { policy });
    expect([kept.exit, kept.stdout]).toEqual([126, ""]);
  });
});

describe("code that is mapped instead of executed", () => {
  const library = compile(place, "foreign.so", LIBRARY, ["-shared", "-fPIC"]);

  test.each([
    { way: "LD_PRELOAD", words: (lib: string) => ["env", `LD_PRELOAD=${lib}`, "/bin/true"] },
    {
      way: "dlopen",
      words: (lib: string) => [PYTHON, "-c", `import ctypes; ctypes.CDLL("${lib}")`],
    },
  ])("is no program start, so no rule sees it: $way", async ({ words }) => {
    const lib = await library;
    const kept = await place.faraday(words(lib), { policy: allowBut(exe(lib)) });
    expect(kept.stdout).toBe("foreign code\n");
  });

  test("is not mapped from outside the grants where files are sealed", async () => {
    const flags = ["--read", "/usr"];
    const lib = await library;
    const code = `import ctypes; ctypes.CDLL("${lib}")`;
    const kept = await place.faraday([PYTHON, "-S", "-c", code], { flags });
    expect(kept.stdout).toBe("");
    expect(kept.exit).toBe(1);
  });
});

test("a process outside that starts programs on request starts them outside", async () => {
  const socket = place.at("daemon.sock");
  const server = Bun.listen({
    unix: socket,
    socket: {
      data(connection) {
        connection.end(Bun.spawnSync(["/usr/bin/id", "-u"]).stdout);
      },
    },
  });
  try {
    const ask = `import socket; s = socket.socket(socket.AF_UNIX); s.connect("${socket}")
s.send(b"id"); print(s.recv(99).decode(), end="")`;
    const policy = allowBut(exe("/usr/bin/id"));
    const kept = await place.faraday([PYTHON, "-S", "-c", ask], { policy });
    expect(kept.stdout).toBe(`${process.getuid?.()}\n`);
  } finally {
    server.stop(true);
  }
});

test("a seal hides what is in a file, and not that it is there", async () => {
  const secret = place.write("secret", "12345");
  const flags = ["--read", "/usr"];
  const kept = await place.faraday(["sh", "-c", `stat -c %s ${secret}; cat ${secret}`], { flags });
  expect(kept.stdout).toBe("5\n");
  expect(kept.stderr).toContain(`${secret}: Permission denied`);
});

test("SIGPIPE is not ignored in the command although the caller ignores it", async () => {
  const look = ["grep", "^SigIgn", "/proc/self/status"];
  const ignored = (words: readonly string[]) =>
    place.bare(["sh", "-c", 'trap "" PIPE HUP; exec "$@"', "sh", ...words]);
  const bare = await ignored(look);
  const kept = await ignored(place.faradayWords(look).words);
  expect(bare.stdout).toBe("SigIgn:\t0000000000001001\n");
  expect(kept.stdout).toBe("SigIgn:\t0000000000000001\n");
});
