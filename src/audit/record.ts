/** The version of the record schema; docs/audit.md describes every field. */
export const AUDIT_VERSION = 1;

export type LayerState = "enforced" | "partly" | "not" | "off";

export interface LayerReport {
  readonly state: LayerState;
  /** What is missing, where something is. */
  readonly missing: readonly string[];
  /** What the layer does not cover even where it is whole. */
  readonly limits: readonly string[];
}

/** Bytes that are not UTF-8 stand as U+FFFD in the plain fields, and whole in here as base64. */
export interface RawBytes {
  readonly exe?: string;
  readonly real_exe?: string;
  readonly cwd?: string;
  readonly argv?: readonly string[];
}

export interface PolicyName {
  readonly path: string;
  readonly sha256: string;
}

interface Common {
  readonly v: typeof AUDIT_VERSION;
  readonly event: string;
  /** Seconds since the epoch, with milliseconds. */
  readonly ts: number;
  readonly session: string;
}

export interface StartRecord extends Common {
  readonly event: "start";
  readonly faraday: string;
  readonly runtime: string;
  readonly kernel: string;
  /** The hash is that of the file alone; what it extends has hashes of its own. */
  readonly policy: PolicyName & { readonly bases: readonly PolicyName[] };
  readonly layers: Readonly<Record<string, LayerReport>>;
  readonly pid: number;
  readonly uid: number;
  readonly argv: readonly string[];
  readonly cwd: string;
}

/**
 * One execve. `exec` is the verdict before the call goes on; `exec-mismatch` says that something
 * else started than was judged, and what became of it.
 */
export interface ExecRecord extends Common {
  readonly event: "exec" | "exec-mismatch";
  readonly pid: number;
  readonly ppid: number;
  readonly uid: number;
  readonly exe: string;
  readonly real_exe: string | null;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** `error`: there is no such program, and the caller was told so. */
  readonly action: "allow" | "deny" | "error";
  readonly rule_id: string | null;
  readonly reason: string;
  readonly bytes?: RawBytes;
}

/** With --explain-denials: a file access that the kernel's seal refused. */
export interface FileRecord extends Common {
  readonly event: "file";
  readonly pid: number;
  readonly ppid: number;
  readonly uid: number;
  /** The system call. */
  readonly call: string;
  /** The file, or the directory that an entry would have been made in or removed from. */
  readonly path: string;
  /** The Landlock rights that were missing. */
  readonly rights: readonly string[];
  readonly action: "deny";
  /** The line of policy that would allow it; null if a hole is in the way. */
  readonly grant: string | null;
  /** The glob of that hole. */
  readonly hole: string | null;
}

/** A call on a socket that the kernel pin, or the seal of the files, refused. */
export interface SocketRecord extends Common {
  readonly event: "net";
  readonly layer: "kernel";
  readonly pid: number;
  readonly ppid: number;
  readonly uid: number;
  readonly call: "connect" | "bind" | "listen";
  /** An address, or the path of a unix socket; an abstract name begins with `@`. */
  readonly host: string;
  /** Null for unix sockets. */
  readonly port: number | null;
  readonly action: "deny";
  readonly rule_id: string;
  readonly reason: string;
  /** The line of policy that would allow it; null if none would. */
  readonly grant: string | null;
}

/**
 * A wish to go over the network, and the verdict; written before anything is sent. What was sent
 * in the end is told by the `net-end` of the same `id`, which only an allowed one has.
 */
export interface NetRecord extends Common {
  readonly event: "net";
  readonly layer: "proxy";
  readonly id: number;
  readonly method: string;
  readonly host: string;
  readonly port: number;
  /** The address that was judged or connected to; null if it did not come to that. */
  readonly ip: string | null;
  /** Without its query, which may hold secrets; null for a tunnel. */
  readonly path: string | null;
  readonly route: string | null;
  /** `error`: the name has no address, and the client was told so. */
  readonly action: "allow" | "deny" | "error";
  readonly rule_id: string | null;
  readonly reason: string;
  /** Nothing was passed on; null for what is let through: its `net-end` has the figures. */
  readonly bytes: 0 | null;
  readonly ms: 0 | null;
}

export interface NetEndRecord extends Common {
  readonly event: "net-end";
  readonly id: number;
  readonly host: string;
  readonly port: number;
  /** Bytes to and from the host, heads included. */
  readonly sent: number;
  readonly received: number;
  /** Both together. */
  readonly bytes: number;
  readonly ms: number;
  /** Why it ended early, if it did. */
  readonly error: string | null;
}

export interface ExecCounts {
  readonly allow: number;
  readonly deny: number;
  readonly error: number;
  readonly mismatch: number;
}

export interface EndRecord extends Common {
  readonly event: "end";
  readonly exit: number;
  /** The signal that ended the command, if one did. */
  readonly signal: number | null;
  readonly counts: ExecCounts;
  /** How many processes the command left running, and what was done. */
  readonly leftovers: { readonly count: number; readonly handled: "none" | "ended" | "waited" };
}

export type AuditRecord =
  | StartRecord
  | ExecRecord
  | FileRecord
  | NetRecord
  | NetEndRecord
  | SocketRecord
  | EndRecord;
