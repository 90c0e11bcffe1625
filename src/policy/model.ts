import type { Span } from "./diagnostic.ts";

export type Action = "allow" | "deny";

/** The match keys a rule may carry; `_not` negates each. */
export const MATCH_KEYS = [
  "exe",
  "exe_basename",
  "exe_glob",
  "argv_regex",
  "argv_contains",
  "argv_host_in",
  "argv_host_any",
  "cwd_glob",
  "uid",
  "parent_exe",
  "parent_argv",
] as const;
export type MatchKey = (typeof MATCH_KEYS)[number];

/** One key of a rule: a list is OR, `negated` turns the whole list around. */
export interface Condition {
  readonly key: MatchKey;
  readonly negated: boolean;
  /** `${VAR}` is already expanded. `uid` holds numbers, every other key strings. */
  readonly values: readonly (string | number)[];
  readonly span: Span;
}

export interface Rule {
  readonly id: string;
  readonly action: Action;
  readonly reason: string;
  readonly conditions: readonly Condition[];
  readonly span: Span;
}

/** A worked example inside a policy; it is judged on every load. */
export interface PolicyTest {
  readonly argv: readonly string[];
  readonly exe: string | null;
  readonly cwd: string | null;
  readonly uid: number | null;
  readonly parentExe: string | null;
  readonly parentArgv: readonly string[] | null;
  readonly expect: Action;
  readonly rule: string | null;
  readonly span: Span;
}

/** A path pattern of `[filesystem]`, as written but with `${VAR}` and `~` expanded. */
export interface PathGrant {
  readonly glob: string;
  readonly span: Span | null;
}

export interface FilesystemPolicy {
  readonly read: readonly PathGrant[];
  readonly write: readonly PathGrant[];
  readonly allow: readonly PathGrant[];
  readonly exec: readonly PathGrant[];
  /** Holes: neither read nor written, whatever grants them. */
  readonly deny: readonly PathGrant[];
  /** Holes for writing only. */
  readonly denyWrite: readonly PathGrant[];
  readonly requireEnforced: boolean;
  readonly noBootstrapReads: boolean;
  readonly createMissing: boolean;
  readonly noexec: boolean;
  /** The agent may write the policy that holds it, or the log that records it. */
  readonly allowSelfWrite: boolean;
}

/** An entry of a host list as written: exact name, `*.suffix`, address or CIDR; perhaps `:port`. */
export interface HostEntry {
  readonly host: string;
  readonly span: Span | null;
}

/** One method and path of a route that may be asked for; `*` is any method. */
export interface EndpointRule {
  readonly method: string;
  /** Normalized; `*` is one segment, `**` any number of them. */
  readonly path: string;
  readonly span: Span | null;
}

/** Where a credential goes in a request; `format` holds `{}` once, where the secret stands. */
export type Injection =
  | { readonly mode: "header"; readonly header: string; readonly format: string }
  | { readonly mode: "query"; readonly param: string }
  | { readonly mode: "path"; readonly format: string }
  | { readonly mode: "basic"; readonly format: string };

/** `http://127.0.0.1:PORT/<name>/...` leads to `upstream`. */
export interface RoutePolicy {
  readonly name: string;
  /** Scheme, host, perhaps port and a path; never a trailing slash, query or user name. */
  readonly upstream: string;
  readonly credentialKey: string | null;
  /** Set if and only if `credentialKey` is. */
  readonly inject: Injection | null;
  /** Empty: every endpoint. */
  readonly endpointRules: readonly EndpointRule[];
  /** Variables for the agent; `{url}` and `{token}` stand for the route's own. */
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly span: Span | null;
}

export interface NetworkPolicy {
  /** Empty: every host but those of cloud metadata. */
  readonly allowedHosts: readonly HostEntry[];
  /** Looked at before the allowed ones. */
  readonly deniedHosts: readonly HostEntry[];
  readonly kernelPin: boolean;
  /** Loopback ports that the agent reaches directly under the pin. */
  readonly allowedLocalPorts: readonly number[];
  readonly allowedBindPorts: readonly number[];
  /** Null: they follow the file grants. */
  readonly unixSockets: readonly PathGrant[] | null;
  readonly checkSni: boolean;
  /** `--block-net`: nothing at all. */
  readonly blockAll: boolean;
  readonly requireEnforced: boolean;
  readonly routes: readonly RoutePolicy[];
}

export type CredentialSource =
  | { readonly kind: "env"; readonly name: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "command"; readonly argv: readonly string[] };

/** Where Faraday takes a secret from that the agent must not hold. */
export interface CredentialPolicy {
  readonly key: string;
  readonly source: CredentialSource;
  readonly span: Span | null;
}

export interface Meta {
  readonly version: 1;
  readonly defaultAction: Action;
  /** The answer when judging itself fails. */
  readonly onPolicyError: Action;
  /** A verdict that takes longer than this is a deny. */
  readonly onSupervisorTimeoutMs: number;
}

/**
 * A policy as plain data: it survives structuredClone, so that the Worker compiles its own copy.
 */
export interface Policy {
  /** The file as named by the user, or `builtin:<name>`. */
  readonly name: string;
  readonly meta: Meta;
  /** Own rules first, then those of the bases in the order of `extends`. */
  readonly rules: readonly Rule[];
  readonly tests: readonly PolicyTest[];
  readonly filesystem: FilesystemPolicy | null;
  readonly network: NetworkPolicy | null;
  readonly credentials: readonly CredentialPolicy[];
  readonly audit: { readonly onError: "stop" | "continue" };
}
