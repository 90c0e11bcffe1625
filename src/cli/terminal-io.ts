import { writeSync } from "node:fs";

/** The effects that a command other than `run` needs, as a parameter so that tests can watch. */
export interface TerminalIo {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: (name: string) => string | undefined;
}

export interface OutputStream {
  readonly isTerminal: boolean;
  readonly write: (text: string) => void;
  /** True once the reader went away, for what would otherwise go on for nobody. */
  readonly isGone?: () => boolean;
}

/** The report could not be written where the user wanted it. */
export class OutputError extends Error {}

export function processIo(): TerminalIo {
  return {
    stdout: descriptorStream(1),
    stderr: descriptorStream(2),
    env: (name) => process.env[name],
  };
}

function descriptorStream(fd: 1 | 2): OutputStream {
  let isGone = false;
  return {
    // Asked only when it is needed: the first look at process.stdout costs a millisecond.
    get isTerminal() {
      return Boolean(fd === 1 ? process.stdout.isTTY : process.stderr.isTTY);
    },
    write: (text) => {
      if (!writeAll(fd, new TextEncoder().encode(text))) isGone = true;
    },
    isGone: () => isGone,
  };
}

/**
 * Writes at once, so that nothing is lost at process.exit. A reader that went away (`| head`) is
 * no failure of ours: the rest is dropped, and the exit code stays what the command decided.
 */
function writeAll(fd: number, bytes: Uint8Array): boolean {
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      const code = (error as { code?: string }).code;
      if (code === "EPIPE") return false;
      // There is nobody left to tell that nobody can be told.
      if (fd === 2 && code !== "EAGAIN" && code !== "EINTR") return false;
      // A terminal or pipe that somebody else set to O_NONBLOCK is full: give it a moment.
      if (code === "EAGAIN") Bun.sleepSync(1);
      else if (code !== "EINTR") throw new OutputError(`cannot write the output: ${code}`);
    }
  }
  return true;
}
