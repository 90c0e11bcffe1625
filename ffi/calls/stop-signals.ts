import { KernelSigaction, SA_NOCLDSTOP, Signal } from "../abi/process.ts";
import { KernelBuffer, sys } from "./libc.ts";

/** Whether children and tracees that stop raise SIGCHLD; those that end always do. */
export class StopSignals {
  readonly #action = new KernelBuffer(KernelSigaction.size);
  #isMuted = false;

  /** Takes over the handler that is there now. */
  constructor() {
    sys("rt_sigaction", Signal.CHLD, 0, this.#action.address, 8);
  }

  get isMuted(): boolean {
    return this.#isMuted;
  }

  mute(): void {
    this.#set(true);
  }

  /** A stop in the meantime was not told: look for one. */
  unmute(): void {
    this.#set(false);
  }

  #set(isMuted: boolean): void {
    this.#isMuted = isMuted;
    const { flags } = KernelSigaction.at;
    const low = this.#action.view.getUint32(flags, true);
    const next = isMuted ? low | SA_NOCLDSTOP : low & ~SA_NOCLDSTOP;
    this.#action.view.setUint32(flags, next >>> 0, true);
    sys("rt_sigaction", Signal.CHLD, this.#action.address, 0, 8);
  }
}
