import { afterAll, describe, expect, test } from "bun:test";
import { Workplace } from "./faraday-run.ts";
import { PYTHON } from "./test-programs.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

/**
 * A terminal: starts a command on a pty of its own and follows a list of steps, each of which
 * waits for a text and then types another, or calls something. Prints all output at the end.
 */
const TERMINAL = `
import fcntl, json, os, pty, select, signal, struct, sys, termios
steps, words = json.loads(sys.argv[1]), sys.argv[2:]
pid, master = pty.fork()
if pid == 0:
    os.execvp(words[0], words)
def resize(rows, columns):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
resize(31, 97)
output, at, open_ = b"", 0, True
def more():
    global output, open_
    if not select.select([master], [], [], 20)[0]:
        print("nothing more came; so far:", output, file=sys.stderr)
        os.kill(pid, signal.SIGKILL)
        sys.exit(1)
    try:
        got = os.read(master, 65536)
    except OSError:
        got = b""
    open_ = got != b""
    output += got
for expected, action in steps:
    while open_ and expected.encode() not in output[at:]:
        more()
    at = output.find(expected.encode(), at) + len(expected)
    if action.startswith("resize "):
        resize(*map(int, action.split()[1:]))
    else:
        os.write(master, action.encode())
while open_:
    more()
sys.stdout.write(output.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
`;

type Step = readonly [expected: string, typed: string];

async function inTerminal(
  command: readonly string[],
  steps: readonly Step[],
): Promise<{ output: string; exit: number }> {
  const { words } = place.faradayWords(command);
  const run = await place.bare([PYTHON, "-c", TERMINAL, JSON.stringify(steps), ...words]);
  expect(run.stderr).toBe("");
  return { output: run.stdout.replaceAll("\r\n", "\n"), exit: run.exit };
}

const CTRL_C = "\x03";
const CTRL_Z = "\x1a";
const CTRL_BACKSLASH = "\x1c";

describe("in a terminal a command is as without Faraday", () => {
  test("Ctrl-C reaches the command once, and Faraday lives as long as it does", async () => {
    const script = `trap 'echo got $((n=n+1))' INT; echo ready
while [ -z "$n" ]; do sleep 0.02; done; sleep 0.1; echo over $n; exit 3`;
    const run = await inTerminal(["sh", "-c", script], [["ready", CTRL_C]]);
    expect(run.output).toContain("got 1\nover 1\n");
    expect(run.exit).toBe(3);
  });

  test("Ctrl-C and Ctrl-\\ kill what does not catch them", async () => {
    const script = "ulimit -c 0; echo ready; exec sleep 60";
    expect((await inTerminal(["sh", "-c", script], [["ready", CTRL_C]])).exit).toBe(130);
    expect((await inTerminal(["sh", "-c", script], [["ready", CTRL_BACKSLASH]])).exit).toBe(131);
  });

  test("it has the terminal, its size, and changes of the size", async () => {
    const script = `tty -s && stty size; trap 'stty size; exit 0' WINCH; echo ready
while :; do sleep 0.02; done`;
    const run = await inTerminal(["sh", "-c", script], [["ready", "resize 40 132"]]);
    expect(run.output).toBe("31 97\nready\n40 132\n");
    expect(run.exit).toBe(0);
  });

  test("its terminal modes outlive Faraday's end", async () => {
    const { words } = place.faradayWords(["stty", "-echo"]);
    const script = `'${words.join("' '")}'; stty -a | grep -ow -e '-echo'; stty echo`;
    const run = await place.bare([PYTHON, "-c", TERMINAL, "[]", "sh", "-c", script]);
    expect(run.stdout).toContain("-echo");
  });

  test("input is read line by line by the command alone", async () => {
    const run = await inTerminal(
      ["sh", "-c", "echo ready; read a; read b; echo [$a] [$b]"],
      [["ready", "one\ntwo\n"]],
    );
    expect(run.output).toEndWith("[one] [two]\n");
  });
});

describe("under a shell with job control", () => {
  /** An interactive shell whose prompt is told apart from what is typed. */
  const shell = ["bash", "--norc", "--noprofile", "-i"];
  const bare = async (steps: readonly Step[]): Promise<string> => {
    const env = {
      PATH: Bun.env.PATH ?? "",
      PS1: "<prompt>",
      HOME: place.path,
      TERM: "dumb",
    };
    const run = await place.bare([PYTHON, "-c", TERMINAL, JSON.stringify(steps), ...shell], {
      env,
    });
    expect(run.stderr).toBe("");
    return run.stdout.replaceAll("\r\n", "\n");
  };
  const typed = (command: readonly string[]): string => {
    const path = place.fresh("command.sh");
    const { words } = place.faradayWords(command);
    place.write(path.slice(place.path.length + 1), `exec '${words.join("' '")}'\n`);
    return `sh ${path}\n`;
  };
  const loop = `trap 'echo got-int; exit 9' INT; trap 'echo goes-on' CONT; echo ready
while :; do sleep 0.02; done`;

  test("Ctrl-Z stops it, fg continues it, Ctrl-C still ends it", async () => {
    const script = place.write("loop.sh", loop);
    const output = await bare([
      ["<prompt>", typed(["sh", script])],
      ["ready", CTRL_Z],
      ["Stopped", "fg\n"],
      ["goes-on", CTRL_C],
      ["got-int", "echo code=$?\n"],
      ["code=9", "exit 0\n"],
    ]);
    expect(output).toContain("code=9");
  });

  test("bg lets it run on, and kill ends it", async () => {
    const script = place.write(
      "bg.sh",
      `echo ready; until [ -e go ]; do sleep 0.02; done; echo went; exit 4`,
    );
    const output = await bare([
      ["<prompt>", `cd ${place.path}; ${typed(["sh", script])}`],
      ["ready", CTRL_Z],
      ["Stopped", "bg\n"],
      ["&", "touch go\n"],
      ["went", "wait %1; echo code=$?\n"],
      ["code=4", "exit 0\n"],
    ]);
    expect(output).toContain("code=4");
  });
});
