/** What the running kernel offers, as found by probing, never assumed from its version. */
export interface KernelFeatures {
  readonly release: string;
  /** 0 where Landlock is missing or switched off. */
  readonly landlockAbi: number;
  /** Why ptrace cannot be used to verify execs; null if it can. */
  readonly ptraceRefusal: string | null;
  /** pidfd_getfd is there. */
  readonly takesDescriptors: boolean;
  /** A call that is being judged is not restarted by every signal. */
  readonly waitsKillable: boolean;
}
