/** One Landlock grant: everything beneath `path` (one character a byte), with these rights. */
export interface LandlockGrant {
  readonly path: string;
  readonly access: number;
}

/** What may be done with a TCP port, on whatever address. */
export interface PortGrant {
  readonly port: number;
  readonly access: number;
}

export interface LandlockPlan {
  readonly handledFs: number;
  readonly handledNet: number;
  readonly scoped: number;
  readonly grants: readonly LandlockGrant[];
  readonly ports: readonly PortGrant[];
}

/**
 * Everything that the launcher does on its way to execve. It travels over a socket pair as JSON,
 * so bytes are strings of one character a byte.
 */
export interface LaunchPlan {
  readonly supervisorPid: number;
  readonly path: string;
  readonly argv: readonly string[];
  readonly environment: readonly string[];
  /** Signals that were ignored when Faraday was started; every other one is set to its default. */
  readonly ignoredSignals: readonly number[];
  readonly signalMaskHex: string;
  readonly keepFds: readonly number[];
  readonly dropCapabilities: readonly number[];
  /** Null on kernels without Landlock. */
  readonly landlock: LandlockPlan | null;
  /** The compiled filter. */
  readonly filter: string;
}
