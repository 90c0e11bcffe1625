/** Ways to reach what the pin does not allow, in Python. Each says whom it reached, or why not. */
export const ATTEMPTS = `
import array, ctypes, errno, os, socket, struct, sys, threading
allowed, other, place = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
libc = ctypes.CDLL(None, use_errno=True)
def greeting(sock):
    sock.settimeout(5)
    return sock.recv(64).decode()
def tcp(address, port, family=socket.AF_INET):
    sock = socket.socket(family)
    sock.connect((address, port))
    return greeting(sock)
def unix(path):
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(path)
    return greeting(sock)
def opened(*args):
    socket.socket(*args).close()
    return "opened"
def sent(action):
    action()
    return "sent"
FASTOPEN = 0x20000000
def fastopen_send():
    sock = socket.socket()
    sock.sendto(b"x", FASTOPEN, ("127.0.0.1", other))
    return greeting(sock)
def fastopen_message():
    sock = socket.socket()
    sock.sendmsg([b"x"], [], FASTOPEN, ("127.0.0.1", other))
    return greeting(sock)
def option(level, name, value, family=socket.AF_INET):
    socket.socket(family).setsockopt(level, name, value)
    return "set"
def reconnect():
    sock = socket.socket()
    sock.connect(("127.0.0.1", allowed))
    unspecified = struct.pack("=H14x", 0)
    if libc.connect(sock.fileno(), unspecified, 16) < 0: raise OSError(ctypes.get_errno(), "unspec")
    sock.connect(("127.0.0.1", other))
    return greeting(sock)
def passed():
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        sock = socket.socket()
        socket.send_fds(theirs, [b"x"], [sock.fileno()])
        os._exit(0)
    _, fds, _, _ = socket.recv_fds(ours, 1, 1)
    sock = socket.socket(fileno=fds[0])
    sock.connect(("127.0.0.1", other))
    return greeting(sock)
def own_table():
    found = []
    def run():
        try:
            if libc.unshare(0x400) < 0: raise OSError(ctypes.get_errno(), "unshare")
            found.append(tcp("127.0.0.1", other))
        except OSError as error: found.append(errno.errorcode[error.errno])
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]
def undumpable():
    libc.prctl(4, 0, 0, 0, 0)
    try: return tcp("127.0.0.1", other)
    finally: libc.prctl(4, 1, 0, 0, 0)
def linked():
    path = place + "/in/link"
    if os.path.islink(path): os.unlink(path)
    os.symlink(place + "/out/stream", path)
    return unix(path)
def relative():
    os.chdir(place + "/in")
    return unix("../out/stream")
def datagram():
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    return sent(lambda: sock.sendto(b"x", place + "/out/datagram"))
def datagram_pair():
    sock, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return sent(lambda: sock.sendto(b"x", place + "/out/datagram"))
def listening(sock):
    sock.listen()
    return "listens"
def bound(port):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", port))
    return "bound"
def as_nobody():
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            os.setgroups([]); os.setgid(65534); os.setuid(65534)
            os.write(write, unix(place + "/in/stream").encode())
        except OSError as error: os.write(write, errno.errorcode[error.errno].encode())
        os._exit(0)
    return os.read(read, 64).decode()
ways = {
    "allowed": lambda: tcp("127.0.0.1", allowed),
    "allowed by name": lambda: tcp("localhost", allowed),
    "allowed by the any address": lambda: tcp("0.0.0.0", allowed),
    "allowed, mapped": lambda: tcp("::ffff:127.0.0.1", allowed, socket.AF_INET6),
    "allowed, six": lambda: tcp("::1", allowed, socket.AF_INET6),
    "unix inside": lambda: unix(place + "/in/stream"),
    "other port": lambda: tcp("127.0.0.1", other),
    "other port by the any address": lambda: tcp("0.0.0.0", other),
    "other port, six": lambda: tcp("::1", other, socket.AF_INET6),
    "other port, any six": lambda: tcp("::", other, socket.AF_INET6),
    "other port, mapped": lambda: tcp("::ffff:127.0.0.1", other, socket.AF_INET6),
    "other address": lambda: tcp("127.0.0.2", allowed),
    "other address, mapped": lambda: tcp("::ffff:127.0.0.2", allowed, socket.AF_INET6),
    "after a disconnect": reconnect,
    "a socket from a relative": passed,
    "a thread with a table of its own": own_table,
    "an undumpable process": undumpable,
    "MSG_FASTOPEN, sendto": fastopen_send,
    "MSG_FASTOPEN, sendmsg": fastopen_message,
    "TCP_FASTOPEN_CONNECT": lambda: option(6, 30, 1),
    "source route": lambda: option(0, 4, bytes([0x83, 7, 4, 127, 0, 0, 2, 0])),
    "device": lambda: option(1, 25, b"lo\\0"),
    "UDP": lambda: opened(socket.AF_INET, socket.SOCK_DGRAM),
    "UDP, six": lambda: opened(socket.AF_INET6, socket.SOCK_DGRAM),
    "raw": lambda: opened(socket.AF_INET, socket.SOCK_RAW, 1),
    "packet": lambda: opened(17, socket.SOCK_RAW, 0),
    "netlink, sock_diag": lambda: opened(16, socket.SOCK_RAW, 4),
    "netlink, uevents": lambda: opened(16, socket.SOCK_RAW, 15),
    "unix outside": lambda: unix(place + "/out/stream"),
    "unix outside by a link": linked,
    "unix outside by a relative path": relative,
    "unix outside by /proc": lambda: unix("/proc/self/root" + place + "/out/stream"),
    "unix datagram": datagram,
    "unix datagram of a pair": datagram_pair,
    "abstract outside": lambda: unix("\\0" + place),
    "other credentials": as_nobody,
    "listen without bind": lambda: listening(socket.socket()),
    "bind": lambda: bound(0),
}
for name, way in ways.items():
    try: answer = way()
    except OSError as error: answer = errno.errorcode.get(error.errno, str(error))
    print(name + "\\t" + answer, flush=True)
`;

export function readAnswers(stdout: string): Readonly<Record<string, string>> {
  const lines = stdout.split("\n").filter((line) => line !== "");
  return Object.fromEntries(lines.map((line) => line.split("\t", 2) as [string, string]));
}
