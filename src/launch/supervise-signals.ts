import { O_NOCTTY, O_RDONLY } from "../../ffi/abi/file.ts";
import { Signal } from "../../ffi/abi/process.ts";
import { FileCalls } from "../../ffi/calls/file.ts";
import { kill } from "../../ffi/calls/process.ts";
import { isForeground } from "../../ffi/calls/terminal.ts";

/** Handed on to the command as they come. */
const FORWARDED = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const;
/** A terminal sends these to the whole foreground group: the command has them already. */
const FROM_TERMINAL = ["SIGINT", "SIGQUIT"] as const;

const NUMBER = {
  SIGTERM: Signal.TERM,
  SIGHUP: Signal.HUP,
  SIGUSR1: Signal.USR1,
  SIGUSR2: Signal.USR2,
  SIGINT: Signal.INT,
  SIGQUIT: Signal.QUIT,
} as const;

/**
 * Makes the supervisor transparent to signals. `ignored` are those that the caller had ignored:
 * they stay so, or `nohup` would no longer work.
 */
export function superviseSignals(ignored: readonly number[], commandPid: number): void {
  const send = (signal: number): void => {
    kill(commandPid, signal);
  };
  for (const name of FORWARDED) {
    if (!ignored.includes(NUMBER[name])) process.on(name, () => send(NUMBER[name]));
  }
  for (const name of FROM_TERMINAL) {
    if (ignored.includes(NUMBER[name])) continue;
    process.on(name, () => {
      if (!inForeground()) send(NUMBER[name]);
    });
  }
  // A command that stopped alone made us stop; whoever continues us means the command.
  process.on("SIGCONT", () => send(Signal.CONT));
}

function inForeground(): boolean {
  const terminal = new FileCalls().open("/dev/tty", O_RDONLY | O_NOCTTY);
  return terminal >= 0 && isForeground(terminal);
}
