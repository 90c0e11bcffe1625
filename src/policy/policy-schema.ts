import { MATCH_KEYS, type MatchKey } from "./model.ts";

/** A JSON Schema, as far as this one goes. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

const text = (description: string, more: Schema = {}): Schema => ({
  type: "string",
  description,
  ...more,
});
const choice = (description: string, ...choices: readonly string[]): Schema => ({
  enum: choices,
  description,
});
const flag = (description: string, fallback: boolean): Schema => ({
  type: "boolean",
  description,
  default: fallback,
});
/** A value or a list of values. */
const oneOrMore = (description: string, item: Schema): Schema => ({
  description,
  oneOf: [item, { type: "array", items: item }],
});
const STRING: Schema = { type: "string", minLength: 1 };
const strings = (description: string): Schema => oneOrMore(description, STRING);
const ports = (description: string): Schema =>
  oneOrMore(description, { type: "integer", minimum: 1, maximum: 65_535 });
/** Unknown keys are mistakes, here as in Faraday itself. */
const table = (
  description: string,
  properties: Readonly<Record<string, Schema>>,
  more: Schema = {},
): Schema => ({ type: "object", description, additionalProperties: false, properties, ...more });
const tables = (description: string, items: Schema): Schema => ({
  type: "array",
  description,
  items,
});

const EXTENDS = strings(
  "Policies to build on: builtin:NAME, or a path relative to this file. Own rules come first.",
);

const META = table("Settings of the policy as a whole.", {
  version: { const: 1, description: "The version of the format." },
  default_action: choice("The verdict where no rule matches.", "allow", "deny"),
  on_policy_error: choice("The verdict if judging itself fails.", "allow", "deny"),
  on_supervisor_timeout_ms: {
    type: "integer",
    minimum: 1,
    maximum: 600_000,
    description: "A verdict that takes longer than this many milliseconds is a denial.",
  },
  extends: EXTENDS,
});

const MATCHES: Readonly<Record<MatchKey, string>> = {
  exe: "A name of the program is exactly this absolute path.",
  exe_basename: "The last part of a name of the program is exactly this.",
  exe_glob: "A name of the program matches this glob; * stays inside a directory, ** does not.",
  argv_regex: "This RE2 expression is found in the arguments, joined by single spaces.",
  argv_contains: "Some single argument contains this text.",
  argv_host_in: "There are http(s) URLs in the arguments, and the host of every one is listed.",
  argv_host_any: "The host of some http(s) URL in the arguments is listed.",
  cwd_glob: "The working directory matches this glob; /a/** includes /a itself.",
  uid: "The real user id of the caller is this number.",
  parent_exe: "The program of the caller's parent matches this glob; without a /, its last part.",
  parent_argv: "This RE2 expression is found in the arguments of the caller's parent.",
};

const UID: Schema = { type: "integer", minimum: 0, maximum: 0xffff_fffe };

function matchKeys(): Record<string, Schema> {
  const keys: Record<string, Schema> = {};
  for (const key of MATCH_KEYS) {
    const item = key === "uid" ? UID : STRING;
    keys[key] = oneOrMore(MATCHES[key], item);
    keys[`${key}_not`] = oneOrMore(`Matches where ${key} would not. ${MATCHES[key]}`, item);
  }
  return keys;
}

const RULE = table(
  "A rule about programs. The first that matches decides; all keys must match, and a list " +
    "matches if one of its values does.",
  {
    id: text("Shown in verdicts and in the audit log; unique.", { pattern: "^[A-Za-z0-9._:-]+$" }),
    action: choice("The verdict.", "allow", "deny"),
    reason: text("What the audit log and the summary say."),
    ...matchKeys(),
  },
  { required: ["id", "action"] },
);

const TEST = table(
  "A worked example, judged whenever the policy is loaded; one that fails is an error.",
  {
    argv: {
      type: "array",
      items: { type: "string" },
      minItems: 1,
      description: "The list of arguments, the program's name first.",
    },
    expect: choice("The verdict that must come out.", "allow", "deny"),
    rule: text('The id of the rule that must decide, or "default".'),
    exe: text("The program; without it argv[0], in /usr/bin if it has no /."),
    cwd: text("The working directory; without it /."),
    uid: { ...UID, description: "The user; without it 1000." },
    parent: strings("The parent: a path, or its list of arguments; without it unknown."),
  },
  { required: ["argv", "expect"] },
);

const FILESYSTEM = table("Seals the files: what is not granted is out of reach.", {
  read_globs: strings("What may be read, listed and started."),
  write_globs: strings("What may be written, created, renamed and removed."),
  allow_globs: strings("What may be read and written."),
  exec_globs: strings("What may be read and started, also where noexec forbids it."),
  deny_globs: strings("Holes: neither read nor written, whatever grants them."),
  deny_write_globs: strings("Holes for writing only."),
  require_enforced: flag("A layer that cannot be enforced ends the run with 126.", true),
  no_bootstrap_reads: flag("Leave out the grants that nearly every program needs.", false),
  create_missing: flag("Create directories that are granted and missing.", false),
  noexec: flag("Keep programs in what may be written from starting.", false),
  allow_self_write: flag("The command may be able to write its policy or its log.", false),
});

const ENDPOINT = table(
  "A method and a path that may be asked for.",
  {
    method: text("A method in capital letters, or * for any."),
    path: text("A path; * is one segment, ** any number of them."),
  },
  { required: ["method", "path"] },
);

const ROUTE = table(
  "A reverse route: http://127.0.0.1:PORT/NAME/... leads to the upstream.",
  {
    upstream: text("https://host, perhaps with a port and a path.", { pattern: "^https?://" }),
    credential_key: text("The [credentials.KEY] whose secret is put into requests."),
    inject_mode: choice("Where the secret goes.", "header", "query", "path", "basic"),
    inject_header: text("The header, for inject_mode header."),
    inject_format: text("What surrounds the secret; {} stands once for it."),
    inject_param: text("The parameter, for inject_mode query."),
    endpoint_rules: tables("The only endpoints that may be asked for.", ENDPOINT),
    env: {
      type: "object",
      description: "Variables for the agent; {url} and {token} stand for the route's own.",
      additionalProperties: { type: "string" },
    },
  },
  { required: ["upstream"] },
);

const HOST_FORMS = "A name, *.name, an address or a range, and perhaps :port behind it.";

const NETWORK = table("Filters the network by host.", {
  allowed_hosts: strings(`Hosts that may be reached; empty is every host. ${HOST_FORMS}`),
  denied_hosts: strings(`Hosts that may not, whatever allows them. ${HOST_FORMS}`),
  block_all: flag("No network at all, as with --block-net.", false),
  kernel_pin: flag("The kernel lets connections through to the proxy only.", false),
  allowed_local_ports: ports("Loopback ports that may be reached directly under the pin."),
  allowed_bind_ports: ports("Ports that may be listened on under the pin."),
  unix_sockets: strings("Unix sockets that may be connected to; without it the file grants count."),
  check_sni: flag("The name in a TLS greeting must be the one that was asked for.", true),
  require_enforced: flag("A layer that cannot be enforced ends the run with 126.", true),
  routes: {
    type: "object",
    description: "Reverse routes by name.",
    additionalProperties: ROUTE,
  },
});

const CREDENTIAL = table(
  "Where Faraday takes a secret from that the agent must not hold; exactly one of the three.",
  {
    env: text("The name of an environment variable."),
    file: text("A file, by its whole path or from ~/ on."),
    command: {
      type: "array",
      items: { type: "string" },
      minItems: 1,
      description: "A command that prints it; no shell is involved.",
    },
  },
  { minProperties: 1, maxProperties: 1 },
);

/** The policy format for editors. A test compares it with what the readers of policies know. */
export function policySchema(): Schema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Faraday policy",
    ...table("Which programs may start, and which files and hosts they may reach.", {
      extends: EXTENDS,
      meta: META,
      rule: tables("Rules about programs, read from the top down.", RULE),
      test: tables("Worked examples.", TEST),
      filesystem: FILESYSTEM,
      network: NETWORK,
      credentials: {
        type: "object",
        description: "Secrets by key.",
        additionalProperties: CREDENTIAL,
      },
      audit: table("The audit log.", {
        on_error: choice("What happens when a record cannot be written.", "stop", "continue"),
      }),
    }),
  };
}
