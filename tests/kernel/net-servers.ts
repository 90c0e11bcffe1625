import { PYTHON } from "./test-programs.ts";

/**
 * Services outside of the sandbox, all on this machine. Each greets who connects with its own name,
 * so that a client knows whom it has reached.
 */
const SERVERS = `
import json, os, socket, sys, threading
place = sys.argv[1]
def serve(sock, name):
    sock.listen(256)
    def loop():
        while True:
            conn, _ = sock.accept()
            try: conn.sendall(name.encode())
            except OSError: pass
            finally: conn.close()
    threading.Thread(target=loop, daemon=True).start()
def tcp(address, port, name, family=socket.AF_INET):
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((address, port))
    serve(sock, name)
    return sock.getsockname()[1]
def unix(path, name):
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    serve(sock, name)
allowed = tcp("127.0.0.1", 0, "allowed")
other = tcp("127.0.0.1", 0, "other")
tcp("127.0.0.2", allowed, "other-address")
tcp("::1", other, "other-six", socket.AF_INET6)
tcp("::1", allowed, "allowed", socket.AF_INET6)
os.makedirs(place + "/in", exist_ok=True)
os.makedirs(place + "/out", exist_ok=True)
unix(place + "/in/stream", "inside")
unix(place + "/out/stream", "outside")
unix("\\0" + place, "outside-abstract")
datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
datagrams.bind(place + "/out/datagram")
full = socket.socket()
full.bind(("127.0.0.1", 0))
full.listen(0)
queue = [socket.socket() for _ in range(4)]
for each in queue:
    each.setblocking(False)
    each.connect_ex(full.getsockname())
stuck = full.getsockname()[1]
print(json.dumps({"allowed": allowed, "other": other, "stuck": stuck}), flush=True)
sys.stdin.read()
`;

export interface NetServers extends Disposable {
  /** A port of 127.0.0.1 and ::1; on 127.0.0.2 it is somebody else's. */
  readonly allowed: number;
  readonly other: number;
  /** Whoever connects here waits. */
  readonly stuck: number;
}

/** Starts them; `place` gets the directories `in` and `out` with sockets. */
export async function startServers(place: string): Promise<NetServers> {
  const child = Bun.spawn([PYTHON, "-c", SERVERS, place], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  let text = "";
  for await (const chunk of child.stdout) {
    text += Buffer.from(chunk).toString();
    if (text.includes("\n")) break;
  }
  const ports = JSON.parse(text) as { allowed: number; other: number; stuck: number };
  return { ...ports, [Symbol.dispose]: () => child.kill("SIGKILL") };
}
