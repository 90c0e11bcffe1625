/** What the running kernel offers, as found by probing, never assumed from its version. */
export interface KernelFeatures {
  readonly release: string;
  /** 0 where Landlock is missing or switched off. */
  readonly landlockAbi: number;
  /** Why ptrace cannot be used to verify execs; null if it can. */
  readonly ptraceRefusal: string | null;
}
