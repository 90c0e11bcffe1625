/** A system call filter as data: what `plan/` decides and libseccomp compiles. */
export type ArgumentTest =
  | {
      readonly argument: number;
      readonly op: "masked-equal";
      readonly mask: number;
      readonly value: number;
    }
  | { readonly argument: number; readonly op: "not-equal"; readonly value: number };

export interface FilterRule {
  readonly call: string;
  /** For calls that Debian's libseccomp has no name for yet; new calls share one number. */
  readonly number?: number;
  readonly action: "notify" | "EPERM" | "ENOSYS";
  /** All must hold; an empty list always does. */
  readonly when: readonly ArgumentTest[];
}
