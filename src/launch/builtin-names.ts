/** What sets a policy inside faraday apart from a path. */
export const BUILTIN_PREFIX = "builtin:";

export const DEFAULT_POLICY = "builtin:default";
