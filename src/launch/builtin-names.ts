export { BUILTIN_PREFIX } from "../policy/embedded-name.ts";

export const DEFAULT_POLICY = "builtin:default";
