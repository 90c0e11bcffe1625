import defaultPolicy from "../../policies/default.toml" with { type: "text" };
import observe from "../../policies/observe.toml" with { type: "text" };
import sealed from "../../policies/sealed.toml" with { type: "text" };
import strict from "../../policies/strict.toml" with { type: "text" };

/** The texts of policies/*.toml, embedded when faraday is built; a test compares the two. */
export const BUILTIN_POLICIES: Readonly<Record<string, string>> = {
  default: defaultPolicy,
  observe,
  sealed,
  strict,
};
