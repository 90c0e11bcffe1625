/** The embedded policies, each with the one line that `faraday profiles` shows. */
export const PROFILES = {
  default:
    "everyday work: no destructive commands, secrets hidden, writing here, in caches and /tmp",
  "claude-code": "default, and what Claude Code keeps in the home directory is writable",
  codex: "default, and what Codex keeps in the home directory is writable",
  gemini: "default, and what Gemini CLI keeps in the home directory is writable",
  ci: "default, for builds and tests: nothing is pushed, published or deployed",
  offline: "default, without a network",
  "read-only": "looks at everything but secrets, writes nothing but /tmp",
  strict: "shells and tools that only read; every other program is denied",
  observe: "denies nothing and records everything, to find out what an agent needs",
} as const;

export type ProfileName = keyof typeof PROFILES;
export const PROFILE_NAMES: readonly ProfileName[] = Object.keys(PROFILES) as ProfileName[];

/** What profiles are made of: not for running, but to be read and extended. */
export const PARTS = {
  programs: "the rules of default, and no files",
  files: "the files of default, and no rules",
  secrets: "what no profile lets be read, and start-up files that none lets be written",
} as const;

export type PolicyName = ProfileName | keyof typeof PARTS;
export const POLICY_NAMES: readonly PolicyName[] = [
  ...PROFILE_NAMES,
  ...(Object.keys(PARTS) as (keyof typeof PARTS)[]),
];
