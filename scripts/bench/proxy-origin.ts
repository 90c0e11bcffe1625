/**
 * The server behind the proxies, a process of its own. It answers `GET …/bytes/N` with N bytes, and
 * a CONNECT as if it had opened a tunnel to itself: so a client sends the same bytes whether a
 * proxy is in between or not. Ends with its standard input.
 */
import type { Socket } from "bun";

interface Answering {
  heard: string;
  bodyBytesLeft: number;
}

const CHUNK = Buffer.alloc(256 * 1024, "x");
const ESTABLISHED = "HTTP/1.1 200 Connection established\r\n\r\n";
const SIZE = /\/bytes\/([0-9]{1,12}) HTTP/;

function send(socket: Socket<Answering>): void {
  const { data } = socket;
  while (data.bodyBytesLeft > 0) {
    const wanted = Math.min(CHUNK.length, data.bodyBytesLeft);
    const part = wanted === CHUNK.length ? CHUNK : CHUNK.subarray(0, wanted);
    const written = socket.write(part);
    if (written <= 0) return;
    data.bodyBytesLeft -= written;
    if (written < wanted) return;
  }
}

function answer(socket: Socket<Answering>, head: string): void {
  if (head.startsWith("CONNECT ")) {
    socket.write(ESTABLISHED);
    return;
  }
  const bytes = Number(SIZE.exec(head)?.[1] ?? 0);
  const status = `HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`;
  // A small answer goes out in one piece: two would wait for each other's acknowledgement.
  if (bytes <= 1024) socket.write(status + "x".repeat(bytes));
  else {
    socket.write(status);
    socket.data.bodyBytesLeft = bytes;
    send(socket);
  }
}

function serve(): number {
  const listener = Bun.listen<Answering>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = { heard: "", bodyBytesLeft: 0 };
      },
      data: (socket, bytes) => {
        const { data } = socket;
        data.heard += bytes.toString("latin1");
        const end = data.heard.indexOf("\r\n\r\n");
        if (end < 0) return;
        const head = data.heard.slice(0, end);
        data.heard = "";
        answer(socket, head);
      },
      drain: send,
      error: () => {},
    },
  });
  return listener.port;
}

if (import.meta.main) {
  process.stdout.write(`${serve()}\n`);
  for await (const _ of Bun.stdin.stream());
  process.exit(0);
}
