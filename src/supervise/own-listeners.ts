import type { Fd } from "../../ffi/abi/brand.ts";
import { Errno } from "../../ffi/abi/errno.ts";
import type { FileCalls } from "../../ffi/calls/file.ts";
import { KernelBuffer } from "../../ffi/calls/libc.ts";

/** Some hundreds of listening sockets, which stand before all others. */
const TABLE_BYTES_MAX = 64 * 1024;
/** What is forgotten beyond these is not reached. */
const PORTS_MAX = 4096;
const SOCKETS_MAX = 64;
/** Port, state and inode of a line of /proc/net/tcp. */
const LINE =
  /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} ([0-9A-F]{2})(?: +\S+){5} +(\d+) /;
const LISTEN = "0A";

/**
 * The TCP sockets that listen for the agent. Whoever may listen may also be reached from inside:
 * test suites start a server on a port of the kernel's choice, and talk to it. The agent's sockets
 * are known by their inodes, since a port may have become somebody else's.
 */
export class OwnListeners {
  readonly #files: FileCalls;
  readonly #table = new KernelBuffer(TABLE_BYTES_MAX);
  /** By port, and so that a port which was never listened on costs nothing. */
  readonly #inodes = new Map<number, Set<string>>();

  constructor(files: FileCalls) {
    this.#files = files;
  }

  note(socket: Fd, port: number): void {
    const link = this.#files.readlink(`/proc/self/fd/${socket}`) ?? "";
    const [, inode] = /^socket:\[(\d+)\]$/.exec(link) ?? [];
    if (inode === undefined) return;
    if (this.#inodes.size >= PORTS_MAX) this.#inodes.clear();
    const known = this.#inodes.get(port);
    if (known !== undefined && known.size < SOCKETS_MAX) known.add(inode);
    else this.#inodes.set(port, new Set([inode]));
  }

  /** Whether somebody listens at this port, and nobody but the agent does, on any address. */
  hold(port: number): boolean {
    const own = this.#inodes.get(port);
    if (own === undefined) return false;
    const four = this.#listening("/proc/self/net/tcp", port);
    const six = this.#listening("/proc/self/net/tcp6", port);
    if (four === null || six === null) return false;
    const found = [...four, ...six];
    return found.length > 0 && found.every((inode) => own.has(inode));
  }

  /** Null if it cannot be told. */
  #listening(path: string, port: number): readonly string[] | null {
    const length = this.#files.slurpRecords(path, this.#table);
    // There is no such table where there is no IPv6.
    if (length < 0) return length === -Errno.ENOENT ? [] : null;
    const [, ...lines] = this.#table.bytes.toString("latin1", 0, length).split("\n");
    const found: string[] = [];
    for (const line of lines) {
      const [, hex = "", state, inode = ""] = LINE.exec(line) ?? [];
      // Those that listen come first, so that what is cut off behind them does not count.
      if (state !== undefined && state !== LISTEN) return found;
      if (Number.parseInt(hex, 16) === port) found.push(inode);
    }
    return length < TABLE_BYTES_MAX ? found : null;
  }
}
