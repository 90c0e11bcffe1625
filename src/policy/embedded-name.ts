/** What sets a policy inside faraday apart from a path. */
export const BUILTIN_PREFIX = "builtin:";

/** True for the policies that are part of faraday. They are written for machines of many kinds. */
export function isEmbedded(name: string | undefined): boolean {
  return name?.startsWith(BUILTIN_PREFIX) === true;
}
