import ci from "../../policies/ci.toml" with { type: "text" };
import claudeCode from "../../policies/claude-code.toml" with { type: "text" };
import codex from "../../policies/codex.toml" with { type: "text" };
import defaultPolicy from "../../policies/default.toml" with { type: "text" };
import files from "../../policies/files.toml" with { type: "text" };
import gemini from "../../policies/gemini.toml" with { type: "text" };
import observe from "../../policies/observe.toml" with { type: "text" };
import offline from "../../policies/offline.toml" with { type: "text" };
import programs from "../../policies/programs.toml" with { type: "text" };
import readOnly from "../../policies/read-only.toml" with { type: "text" };
import secrets from "../../policies/secrets.toml" with { type: "text" };
import strict from "../../policies/strict.toml" with { type: "text" };

/** The texts of policies/*.toml, embedded when faraday is built; a test compares the two. */
export const BUILTIN_POLICIES: Readonly<Record<string, string>> = {
  ci,
  "claude-code": claudeCode,
  codex,
  default: defaultPolicy,
  files,
  gemini,
  observe,
  offline,
  programs,
  "read-only": readOnly,
  secrets,
  strict,
};
