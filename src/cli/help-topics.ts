import type { TopicName } from "./flags.ts";

const exitCodes = `Exit codes of \`faraday run\`:

  N      what the command itself exited with
  128+N  signal N killed the command (137 for KILL, 143 for TERM)
  125    faraday itself failed: a broken policy, an audit log that cannot be written
  126    the command could not be executed: denied by the policy, not an executable, or a layer
         that was asked for cannot be enforced here
  127    the command was not found
  2      usage error: nothing was started

A program that is denied later, deep inside the command, fails with EACCES there; a shell turns
that into its own 126 for that one program.

Exit codes of every other command:

  0      yes: the policy can be used, it would be allowed, everything was held
  1      no: the policy has errors, it would be denied, something was not held, a log cannot be
         read, or the output could not be written
  2      usage error

Example: faraday run -- sh -c 'exit 3'; echo $?
`;

const environment = `Environment variables that faraday reads:

  FARADAY_LOG   \`debug\` traces every verdict of \`run\` on standard error
  NO_COLOR      set to anything but the empty string: no colour, unless --color says otherwise
  TERM          \`dumb\`: no colour, unless --color says otherwise
  HOME, PATH    HOME is \`~\` in a policy; PATH is where \`run\` looks for the command
  any other     where a policy names it as \${NAME}; an undefined one is an error

The command gets faraday's own environment, unchanged; with a network setting HTTP_PROXY,
HTTPS_PROXY, ALL_PROXY and NO_PROXY (in both cases) and NODE_USE_ENV_PROXY are set in it, and
variables that hold credentials are taken out.

The variables with which Bun, the runtime inside, can be turned into something else (BUN_OPTIONS,
BUN_BE_BUN, BUN_INSPECT) are closed in the binary. LD_* and BUN_JSC_* are not: whoever sets them
for faraday itself is trusted. The stage that becomes the command starts with an empty environment.

Example: FARADAY_LOG=debug faraday run -- sh -c 'ls'
`;

const policy = `A policy is a TOML file. Its rules are read from top to bottom; the first that
matches decides, and default_action decides where none does.

  [meta]
  version = 1
  default_action = "deny"

  [[rule]]
  id = "allow-readonly-git"
  action = "allow"
  exe = "/usr/bin/git"
  argv_regex = '^git (status|log|diff)( |$)'

  [[rule]]
  id = "allow-shell"
  action = "allow"
  exe = ["/bin/bash", "/bin/sh", "/usr/bin/bash", "/usr/bin/sh"]

  [[test]]
  argv = ["git", "push"]
  expect = "deny"

The keys of a rule that look at an execve. All of a rule's keys must match; a list matches if one
of its values does; a key with \`_not\` at its end matches if the plain one would not.

  exe            the path of the program, exactly
  exe_basename   its last part
  exe_glob       a glob over the path; * stays inside one directory, ** does not
  argv_regex     searched in the arguments, joined by single spaces
  argv_contains  some single argument contains this
  argv_host_in   there are http(s) URLs, and every host in them is listed
  argv_host_any  some host of a URL is listed
  cwd_glob       a glob over the working directory
  uid            the numeric user id
  parent_exe     the program of the process that asks
  parent_argv    a regular expression, searched in that process's arguments

\${NAME} stands for an environment variable when the policy is loaded. \`extends\`, a list of paths
and builtin:NAMEs, adds the rules of other policies behind the policy's own. Each [[test]] is
judged whenever the policy is loaded, and one that fails is an error.

A [filesystem] table seals the files: read_globs, write_globs and allow_globs (and --read, --write,
--allow) grant trees, deny_globs and deny_write_globs make holes in them, and everything else is out
of reach. Without the table and without a flag no file is sealed.

A [network] table filters the network through a proxy: allowed_hosts and denied_hosts (and
--allow-domain, --deny-domain) say who may be reached, [network.routes.NAME] puts a credential from
[credentials.KEY] into requests without giving it to the command. kernel_pin = true holds programs
that ignore the proxy, too; block_all = true (and --block-net) leaves no network at all.

Example: faraday check --policy policy.toml
`;

export const TOPIC_TEXTS: Readonly<Record<TopicName, string>> = {
  "exit-codes": exitCodes,
  environment,
  policy,
};
