import { SIGNAL_MAX, Signal } from "../../ffi/abi/process.ts";
import { readKernelText } from "../../ffi/calls/whole-file.ts";

/** What Faraday was started with and must hand on. Bytes are strings of one character a byte. */
export interface CallerState {
  readonly environment: readonly string[];
  readonly ignoredSignals: readonly number[];
  readonly signalMaskHex: string;
}

/** The runtime ignores these two for itself before any of our code runs. */
const RUNTIME_IGNORES: ReadonlySet<number> = new Set([Signal.PIPE, Signal.XFSZ]);

/** SIGCHLD is caught by now, so whether it was ignored comes from whoever caught it. */
export function readCallerState(caught: { readonly ignoredChildren: boolean }): CallerState {
  const status = readKernelText("/proc/self/status") ?? "";
  const ignored = BigInt(`0x${statusField(status, "SigIgn")}`);
  const ignoredSignals: number[] = caught.ignoredChildren ? [Signal.CHLD] : [];
  for (let signal = 1; signal <= SIGNAL_MAX; signal++) {
    const isIgnored = ((ignored >> BigInt(signal - 1)) & 1n) === 1n;
    if (isIgnored && !RUNTIME_IGNORES.has(signal)) ignoredSignals.push(signal);
  }
  return {
    // The runtime's own copy of the environment has lost what is not UTF-8.
    environment: (readKernelText("/proc/self/environ") ?? "").split("\0").slice(0, -1),
    ignoredSignals,
    signalMaskHex: statusField(status, "SigBlk"),
  };
}

function statusField(status: string, name: string): string {
  const found = new RegExp(`^${name}:\\t([0-9a-f]+)$`, "m").exec(status)?.[1];
  if (found === undefined) throw new Error(`/proc/self/status has no ${name}`);
  return found;
}

export function variable(environment: readonly string[], name: string): string | undefined {
  const prefix = `${name}=`;
  return environment.find((entry) => entry.startsWith(prefix))?.slice(prefix.length);
}
