/** A system call filter as data: what `plan/` decides and libseccomp compiles. */
export type ArgumentTest =
  | {
      readonly argument: number;
      readonly op: "masked-equal";
      readonly mask: number;
      readonly value: number;
    }
  /** `at-least` compares all 64 bits: rubbish in the upper half makes a value large. */
  | {
      readonly argument: number;
      readonly op: "not-equal" | "at-least";
      readonly value: number;
    };

export interface FilterRule {
  readonly call: string;
  /** For calls that Debian's libseccomp has no name for yet; new calls share one number. */
  readonly number?: number;
  readonly action: "notify" | "EPERM" | "ENOSYS" | "EACCES" | "EAFNOSUPPORT" | "EOPNOTSUPP";
  /** All must hold; an empty list always does. */
  readonly when: readonly ArgumentTest[];
}
