import type { Pid } from "../../ffi/abi/brand.ts";
import { errnoName } from "../../ffi/abi/errno.ts";
import { KernelBuffer, openSpawnLibc, type SpawnLibc, sys } from "../../ffi/calls/libc.ts";
import { spawn } from "../../ffi/calls/process.ts";

const EMBEDDED = "/$bunfs/";

/** The words that start this program again. */
export const ownWords = (...words: readonly string[]): string[] => [
  "faraday",
  ...(Bun.main.startsWith(EMBEDDED) ? [] : [Bun.main]),
  "__attempt",
  ...words,
];

/** Starts programs the way any program does, and says what the kernel answered. */
export class Children {
  readonly #libc: SpawnLibc = openSpawnLibc();
  readonly #status = new KernelBuffer(4);

  /** A process id, or a negated errno. */
  start(
    path: string | { readonly address: number },
    argv: readonly string[],
    environment: readonly string[] = [],
  ): Pid | number {
    return spawn(this.#libc, {
      path: typeof path === "string" ? Buffer.from(path) : path,
      argv: argv.map((word) => Buffer.from(word)),
      environment: environment.map((word) => Buffer.from(word)),
      dup: [],
    });
  }

  /** The exit code, 128+n for signal n; null if it is still running and was not waited for. */
  wait(pid: number, options: { readonly blocks: boolean } = { blocks: true }): number | null {
    const ended = sys("wait4", pid, this.#status.address, options.blocks ? 0 : 1, 0);
    if (ended !== pid) return null;
    const status = this.#status.view.getInt32(0, true);
    const signal = status & 0x7f;
    return signal === 0 ? (status >> 8) & 0xff : 128 + signal;
  }

  /** OK if the program ran to a good end. */
  run(path: string, argv: readonly string[]): string {
    const pid = this.start(path, argv);
    if (pid < 0) return errnoName(-pid);
    const exit = this.wait(pid);
    return exit === 0 ? "OK" : `exit ${exit}`;
  }
}
