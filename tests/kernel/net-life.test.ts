/** Programs that do nothing wrong go on as before under the pin and under a seal. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Workplace } from "./faraday-run.ts";
import { startServers } from "./net-servers.ts";
import { PYTHON } from "./test-programs.ts";

const TIMEOUT_MS = 60_000;
const place = new Workplace();
const servers = await startServers(place.path);
const web = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hello") });
beforeAll(() => {
  place.write("parent.cjs", PARENT);
});
afterAll(() => {
  web.stop(true);
  servers[Symbol.dispose]();
  place[Symbol.dispose]();
});

/** Its child tells it to go on over the pair of sockets between them. */
const PARENT = `const http = require("node:http");
if (process.send !== undefined) process.send("go on");
else require("node:child_process").fork(__filename).once("message", () => {
  http.get(process.argv[2], (answer) => answer.pipe(process.stdout));
});
`;

const META = `[meta]
version = 1
default_action = "allow"
`;
const pin = (): string => `${META}
[network]
kernel_pin = true
allowed_local_ports = [${servers.allowed}, ${servers.stuck}, ${web.port}]
allowed_bind_ports = [0]
unix_sockets = ["${place.path}/in/**"]
`;
const seal = (): string => `${META}
[filesystem]
allow_globs = ["${place.path}/in/**", "/dev/shm/**"]
read_globs = ["/**"]
`;
const POLICIES = [
  ["the pin", pin],
  ["a seal", seal],
] as const;

const python = (text: string): string[] => [PYTHON, "-c", text, place.path];

/** What a program says, given the ports: `$allowed`, `$stuck`, `$web`. */
const PROGRAMS: readonly (readonly [what: string, words: readonly string[], says: string])[] = [
  [
    "a blocking connect",
    python(`import socket
print(socket.create_connection(("localhost", $allowed)).recv(64).decode())`),
    "allowed",
  ],
  [
    "a connect with a timeout",
    python(`import socket
print(socket.create_connection(("127.0.0.1", $allowed), 5).recv(64).decode())`),
    "allowed",
  ],
  [
    "asyncio",
    python(`import asyncio
async def main():
    reader, _ = await asyncio.open_connection("localhost", $allowed)
    print((await reader.read()).decode())
asyncio.run(main())`),
    "allowed",
  ],
  [
    "a server of its own, on a port of the kernel's choice",
    python(`import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
server.accept()[0].sendall(b"own")
print(client.recv(64).decode())`),
    "own",
  ],
  [
    "a server of its own for both families",
    python(`import socket
server = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
for address in ("127.0.0.1", "::1"):
    client = socket.create_connection((address, server.getsockname()[1]))
    server.accept()[0].sendall(b"own ")
    print(client.recv(64).decode(), end="")`),
    "own own",
  ],
  [
    "a refused connect",
    python(`import socket
free = socket.socket(socket.AF_UNIX)
try: free.connect("${"$place"}/in/nobody")
except FileNotFoundError: print("not found")`),
    "not found",
  ],
  [
    "a connect that waits, beside others that do not",
    python(`import socket, threading, time
stuck = socket.socket()
stuck.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, (1).to_bytes(8, "little") + bytes(8))
answers = []
def wait():
    try: stuck.connect(("127.0.0.1", $stuck))
    except OSError as error: answers.append(type(error).__name__)
thread = threading.Thread(target=wait)
thread.start()
for _ in range(20): socket.create_connection(("127.0.0.1", $allowed)).recv(64)
print(thread.is_alive())
thread.join()
print(answers)`),
    "True\n['BlockingIOError']",
  ],
  [
    "a signal during a connect that waits",
    python(`import signal, socket
class Late(Exception): pass
def late(*_): raise Late
signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try: socket.socket().connect(("127.0.0.1", $stuck))
except Late: print("late")`),
    "late",
  ],
  [
    "a unix server of its own",
    python(`import multiprocessing.connection as c, os, threading
path = "${"$place"}/in/own-%d" % os.getpid()
server = c.Listener(path, "AF_UNIX")
def serve():
    with server.accept() as peer: peer.send("served")
threading.Thread(target=serve).start()
print(c.Client(path, "AF_UNIX").recv())`),
    "served",
  ],
  [
    "an abstract server of its own",
    python(`import os, socket, threading
server = socket.socket(socket.AF_UNIX)
server.bind("\\0faraday-%d" % os.getpid())
server.listen()
threading.Thread(target=lambda: server.accept()[0].sendall(b"served")).start()
client = socket.socket(socket.AF_UNIX)
client.connect(server.getsockname())
print(client.recv(64).decode())`),
    "served",
  ],
  [
    "a TCP server of its own",
    python(`import socket
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
print(server.getsockname()[1] > 0)`),
    "True",
  ],
  [
    "a pool of processes",
    python(`import multiprocessing
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool: print(pool.map(abs, [-1, -2]))`),
    "[1, 2]",
  ],
  ["bash", ["bash", "-c", "cat < /dev/tcp/127.0.0.1/$allowed"], "allowed"],
  ["curl", ["curl", "-sS", "--noproxy", "*", "http://127.0.0.1:$web/"], "hello"],
  ["node", ["node", "$place/parent.cjs", "http://localhost:$web/"], "hello"],
];

describe.each(POLICIES)("under %s", (_, policy) => {
  test.each(PROGRAMS.filter(([, [program = ""]]) => Bun.which(program) !== null))(
    "%s works",
    async (_what, words, says) => {
      const ports = { allowed: servers.allowed, stuck: servers.stuck, web: web.port };
      const filled = words.map((word) =>
        Object.entries(ports)
          .reduce((text, [name, port]) => text.replaceAll(`$${name}`, String(port)), word)
          .replaceAll("$place", place.path),
      );
      const run = await place.faraday(filled, { policy: policy() });
      expect([run.stdout.trim(), run.stderr]).toEqual([says, run.stderr]);
    },
    TIMEOUT_MS,
  );
});
