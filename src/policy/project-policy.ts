/** What was seen in a project's directory, by the names that tell. */
export interface ProjectFacts {
  readonly files: readonly string[];
}

/** What a kind of project adds to a policy: text that is put in as it is. */
interface ProjectKind {
  readonly title: string;
  /** One of these names is there. */
  readonly signs: readonly string[];
  readonly grants: readonly string[];
  /** Deny rules for what is hardly ever meant; each with its own examples. */
  readonly rules: readonly string[];
}

const KINDS: readonly ProjectKind[] = [
  {
    title: "git",
    signs: [".git"],
    grants: [],
    rules: [
      `[[rule]]
id = "no-force-push"
action = "deny"
reason = "history that others have is not rewritten"
exe_basename = "git"
argv_regex = '^git (.* )?push( .*)? (-f|--force|--force-with-lease|--mirror)( |$)'

[[test]]
argv = ["git", "push", "--force", "origin", "main"]
expect = "deny"
rule = "no-force-push"

[[test]]
argv = ["git", "status"]
expect = "allow"`,
    ],
  },
  {
    title: "Node.js",
    signs: ["package.json"],
    grants: ["~/.npm", "~/.cache/yarn", "~/.local/share/pnpm/store", "~/.bun/install/cache"],
    rules: [
      `[[rule]]
id = "no-npm-publish"
action = "deny"
reason = "releases are made by people"
exe_basename = ["npm", "pnpm", "yarn", "node"]
argv_regex = '(^|[ /])(npm|pnpm|yarn)(-cli)?(\\.c?js)? (publish|unpublish)( |$)'

[[test]]
argv = ["npm", "publish"]
expect = "deny"
rule = "no-npm-publish"

[[test]]
argv = ["npm", "test"]
expect = "allow"`,
    ],
  },
  {
    title: "Rust",
    signs: ["Cargo.toml"],
    grants: ["~/.cargo/registry", "~/.cargo/git", "~/.cargo/.package-cache"],
    rules: [
      `[[rule]]
id = "no-cargo-publish"
action = "deny"
reason = "releases are made by people"
exe_basename = "cargo"
argv_regex = '^cargo (\\+\\S+ )?(publish|yank)( |$)'

[[test]]
argv = ["cargo", "publish"]
expect = "deny"
rule = "no-cargo-publish"

[[test]]
argv = ["cargo", "test"]
expect = "allow"`,
    ],
  },
  {
    title: "Python",
    signs: ["pyproject.toml", "setup.py", "requirements.txt"],
    grants: ["~/.cache/pip", "~/.cache/uv", "~/.cache/pypoetry"],
    rules: [
      `[[rule]]
id = "no-upload"
action = "deny"
reason = "releases are made by people"
exe_basename = ["twine", "flit", "poetry", "uv", "hatch"]
argv_regex = '^(twine upload|(flit|poetry|uv|hatch) publish)( |$)'

[[test]]
argv = ["twine", "upload", "dist/app.whl"]
expect = "deny"
rule = "no-upload"

[[test]]
argv = ["python3", "-m", "pytest"]
expect = "allow"`,
    ],
  },
  {
    title: "Go",
    signs: ["go.mod"],
    grants: ["~/go/pkg/mod", "~/.cache/go-build"],
    rules: [],
  },
  {
    title: "make",
    signs: ["Makefile", "makefile", "GNUmakefile"],
    grants: [],
    rules: [
      `[[rule]]
id = "no-make-install"
action = "deny"
reason = "installing changes the machine, not the project"
exe_basename = ["make", "gmake"]
argv_regex = '^g?make (.* )?(install|deploy|release)( |$)'

[[test]]
argv = ["make", "install"]
expect = "deny"
rule = "no-make-install"

[[test]]
argv = ["make", "test"]
expect = "allow"`,
    ],
  },
];

/** The kinds that were recognized, for the report. */
export function projectKinds({ files }: ProjectFacts): readonly string[] {
  return kindsOf(files).map(({ title }) => title);
}

/** The names that `init` looks for. */
export const PROJECT_SIGNS: readonly string[] = KINDS.flatMap(({ signs }) => signs);

const kindsOf = (files: readonly string[]): readonly ProjectKind[] =>
  KINDS.filter(({ signs }) => signs.some((sign) => files.includes(sign)));

/** Profiles without a seal get no grants: a table would seal the files. */
const UNSEALED: readonly string[] = ["default", "observe", "strict"];
/** Profiles that deny by default do not let these programs start anyway. */
const CLOSED: readonly string[] = ["strict"];

/** A policy for a project, as text to be written, read and edited. */
export function projectPolicy(profile: string, facts: ProjectFacts): string {
  const kinds = kindsOf(facts.files);
  const seen = projectKinds(facts).join(", ") || "nothing that it knows";
  const rules = CLOSED.includes(profile) ? [] : kinds.flatMap((kind) => kind.rules);
  const sections = [head(profile, seen), files(profile, kinds)];
  if (rules.length > 0) {
    sections.push(
      "# Rules come before those of the profile; the first that matches decides. Every rule has\n" +
        "# its examples below it, which are judged each time the policy is loaded.",
      ...rules,
    );
  }
  sections.push(
    EXAMPLE[profile === "observe" ? "open" : CLOSED.includes(profile) ? "closed" : "plain"],
  );
  return `${sections.join("\n\n")}\n`;
}

function head(profile: string, seen: string): string {
  return `# The policy for agents that work on this project, written by \`faraday init\`, which saw
# ${seen}. It is a beginning: edit it.
#
#   faraday check faraday.toml                    is it right?
#   faraday explain -p faraday.toml -- git push   what would it say?
#   faraday run -p faraday.toml -- COMMAND        run something under it
#
# Editors complete it with the schema: \`faraday schema > FILE\`, \`#:schema FILE\` as first line.

# \`faraday profiles ${profile}\` shows what this brings.
extends = ["builtin:${profile}"]

[meta]
version = 1`;
}

function files(profile: string, kinds: readonly ProjectKind[]): string {
  if (UNSEALED.includes(profile)) {
    return `# This profile does not seal files. With this table only these trees could be written:
# [filesystem]
# read_globs = ["/"]
# allow_globs = [".", "/tmp"]`;
  }
  const grants = [...new Set(kinds.flatMap((kind) => kind.grants))];
  const list = grants.map((grant) => `#   "${grant}",`);
  const known = list.length === 0 ? ['#   "~/somewhere/else",'] : list;
  const self = profile === "read-only" ? "" : `\n\n${SELF_WRITE}`;
  return `[filesystem]
# The profile grants what it says. More can be added; what does not exist grants nothing.
# allow_globs = [
${known.join("\n")}
# ]${self}`;
}

const SELF_WRITE = `# This file lies in a directory that the agent may write, so that it
# could change the rules of the next run (not of its own): look at the diff. The other way is to
# keep the policy elsewhere, or to name it in deny_write_globs; then no file can be created directly
# in this directory.
allow_self_write = true`;

const EXAMPLE = {
  plain: `[[test]]
argv = ["rm", "-rf", "/"]
expect = "deny"`,
  closed: `[[test]]
argv = ["curl", "https://example.com"]
expect = "deny"`,
  open: `[[test]]
argv = ["ls"]
expect = "allow"`,
} as const;
