import { Errno, errnoName } from "../../ffi/abi/errno.ts";
import { S_IFDIR, S_IFMT } from "../../ffi/abi/file.ts";
import { readWholeFile } from "../../ffi/calls/whole-file.ts";
import { textToBytes } from "../policy/byte-text.ts";
import { err, ok, type Result } from "../policy/result.ts";

/** Far above any policy written by hand; a parser must not be fed a disk image by mistake. */
const POLICY_BYTES_MAX = 1024 * 1024;

export interface PolicyFile {
  readonly bytes: Uint8Array;
  readonly text: string;
  /** Device and inode: the same file under another name has the same identity. */
  readonly identity: string;
}

export interface FileProblem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/**
 * Reads a policy once, from one open descriptor: what is parsed is what is hashed. `path` holds
 * bytes losslessly. Pipes are fine (`--policy <(generate)`), so the size is counted, not asked.
 */
export function readPolicyFile(path: string): Result<PolicyFile, FileProblem> {
  const latin1 = Buffer.from(textToBytes(path)).toString("latin1");
  const file = readWholeFile(latin1, POLICY_BYTES_MAX);
  if (typeof file === "number") return err(problemOf(-file, path));
  const { bytes, stat } = file;
  if ((stat.mode & S_IFMT) === S_IFDIR) return err(isDirectory(path));
  if (bytes.length > POLICY_BYTES_MAX) {
    return err({
      code: "policy-too-large",
      message: `the policy \`${path}\` is larger than 1 MiB`,
      hint: "name the TOML file itself; a long policy can be split with `extends`",
    });
  }
  const text = decode(bytes, path);
  return text.ok ? ok({ bytes, text: text.value, identity: stat.id }) : text;
}

function decode(bytes: Uint8Array, path: string): Result<string, FileProblem> {
  try {
    return ok(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    const line = lineOfInvalidByte(bytes);
    return err({
      code: "policy-not-utf8",
      message: `the policy \`${path}\` is not valid UTF-8 (line ${line})`,
      hint: "TOML is UTF-8; convert the file, for instance with `iconv -t utf-8`",
    });
  }
}

/** Lines before the first that does not decode; a newline is never part of a longer sequence. */
function lineOfInvalidByte(bytes: Uint8Array): number {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 1;
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline;
    try {
      decoder.decode(bytes.subarray(start, end));
    } catch {
      return line;
    }
    line++;
    start = end + 1;
  }
  return line;
}

/** The name of an embedded policy is most likely meant as such. */
function notFoundHint(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.toml$/, "");
  // Only here are all of them needed.
  const { BUILTIN_POLICIES } =
    require("./builtin-policies.ts") as typeof import("./builtin-policies.ts");
  if (Object.hasOwn(BUILTIN_POLICIES, name)) return `did you mean \`builtin:${name}\`?`;
  return "check the path; `faraday profiles` lists the policies inside faraday";
}

function problemOf(errno: number, path: string): FileProblem {
  switch (errno) {
    case Errno.ENOENT:
    case Errno.ENOTDIR:
      return {
        code: "policy-not-found",
        message: `there is no policy \`${path}\``,
        hint: notFoundHint(path),
      };
    case Errno.EACCES:
    case Errno.EPERM:
      return {
        code: "policy-unreadable",
        message: `the policy \`${path}\` may not be read`,
        hint: "check the permissions of the file and of the directories above it",
      };
    case Errno.EISDIR:
      return isDirectory(path);
    default:
      return {
        code: "policy-unreadable",
        message: `the policy \`${path}\` cannot be read: ${errnoName(errno)}`,
        hint: "name a regular file or a pipe",
      };
  }
}

function isDirectory(path: string): FileProblem {
  return {
    code: "policy-is-directory",
    message: `the policy \`${path}\` is a directory`,
    hint: "name the TOML file in it",
  };
}
