import { closeSync, fstatSync, openSync, readSync } from "node:fs";
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
  let fd: number;
  try {
    fd = openSync(Buffer.from(textToBytes(path)), "r");
  } catch (error) {
    return err(problemOf(error, path));
  }
  try {
    const stat = fstatSync(fd, { bigint: true });
    if (stat.isDirectory()) return err(isDirectory(path));
    const bytes = readBounded(fd);
    if (bytes === null) {
      return err({
        code: "policy-too-large",
        message: `the policy \`${path}\` is larger than 1 MiB`,
        hint: "name the TOML file itself; a long policy can be split with `extends`",
      });
    }
    const text = decode(bytes, path);
    if (!text.ok) return text;
    return ok({ bytes, text: text.value, identity: `${stat.dev}:${stat.ino}` });
  } catch (error) {
    return err(problemOf(error, path));
  } finally {
    closeSync(fd);
  }
}

/** The whole content, or null if it is longer than a policy may be. */
function readBounded(fd: number): Uint8Array | null {
  const buffer = new Uint8Array(POLICY_BYTES_MAX + 1);
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(fd, buffer, length, buffer.length - length, null);
    if (count === 0) return buffer.slice(0, length);
    length += count;
  }
  return null;
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

function problemOf(error: unknown, path: string): FileProblem {
  const code = (error as { code?: string }).code;
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return {
        code: "policy-not-found",
        message: `there is no policy \`${path}\``,
        hint: "check the path; `builtin:default` names the policy inside faraday",
      };
    case "EACCES":
    case "EPERM":
      return {
        code: "policy-unreadable",
        message: `the policy \`${path}\` may not be read`,
        hint: "check the permissions of the file and of the directories above it",
      };
    case "EISDIR":
      return isDirectory(path);
    case undefined:
      // Not an answer of the kernel, so a bug of ours.
      throw error;
    default:
      return {
        code: "policy-unreadable",
        message: `the policy \`${path}\` cannot be read: ${code}`,
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
