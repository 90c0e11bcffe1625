import { KernelBuffer, sys } from "./libc.ts";

const TIOCGPGRP = 0x540f;

/** True if this process is in the foreground group of the terminal; closes the descriptor. */
export function isForeground(terminal: number): boolean {
  const group = new KernelBuffer(4);
  const asked = sys("ioctl", terminal, TIOCGPGRP, group.address);
  sys("close", terminal);
  return asked === 0 && group.view.getInt32(0, true) === sys("getpgid", 0);
}
