import type { Environment } from "./expand-variables.ts";
import type { ProblemList } from "./problem-list.ts";
import type { SourceText } from "./source-text.ts";

/** What every reader of a policy file works with. */
export interface ReadContext {
  readonly source: SourceText;
  readonly problems: ProblemList;
  readonly env: Environment;
  /** What `~` stands for. */
  readonly home: string | undefined;
  /** Leaves `${NAME}` and `~` in grants, for `placeGrants` to expand where the policy is used. */
  readonly keepsVariables: boolean;
  /** Leaves `[[test]]` tables unread. */
  readonly skipTests: boolean;
}
