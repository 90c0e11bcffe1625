import { constants, openSync, writeSync } from "node:fs";
import { hasEscapedBytes, textToBytes } from "../policy/byte-text.ts";
import type { AuditRecord, RawBytes } from "./record.ts";

/** Append only, so that two runs may share a log; the descriptor never reaches the agent. */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOCTTY;

export function openJournalFile(path: string): number {
  return openSync(path, FLAGS, 0o600);
}

/**
 * Writes records as JSON lines. A record is in the kernel's hands when `write` returns true; the
 * verdict that it tells of may take effect only then.
 */
export class Journal {
  readonly #fd: number | null;
  #failure: string | null = null;

  /** Without a descriptor every write succeeds and goes nowhere. */
  constructor(fd: number | null) {
    this.#fd = fd;
  }

  /** Why writing failed, once it did. */
  get failure(): string | null {
    return this.#failure;
  }

  get enabled(): boolean {
    return this.#fd !== null;
  }

  write(record: AuditRecord): boolean {
    if (this.#fd === null) return true;
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    let done = 0;
    try {
      while (done < line.length) done += writeSync(this.#fd, line, done);
      return true;
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
      // Half a line would swallow the next record; if even this fails there is no next one.
      if (done > 0) this.#endLine();
      return false;
    }
  }

  #endLine(): void {
    try {
      if (this.#fd !== null) writeSync(this.#fd, "\n");
    } catch {
      // The failure that matters is recorded already.
    }
  }
}

const LONE_SURROGATES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Text that any JSON reader takes: what is not UTF-8 becomes U+FFFD. */
export function readable(text: string): string {
  return hasEscapedBytes(text) ? text.replace(LONE_SURROGATES, "\ufffd") : text;
}

const base64 = (text: string): string => Buffer.from(textToBytes(text)).toString("base64");

/** The fields whose bytes the readable form loses; undefined if it loses none. */
export function rawBytes(fields: {
  readonly exe: string;
  readonly realExe: string | null;
  readonly cwd: string;
  readonly argv: readonly string[];
}): RawBytes | undefined {
  const raw: { -readonly [K in keyof RawBytes]: RawBytes[K] } = {};
  if (hasEscapedBytes(fields.exe)) raw.exe = base64(fields.exe);
  if (fields.realExe !== null && hasEscapedBytes(fields.realExe)) {
    raw.real_exe = base64(fields.realExe);
  }
  if (hasEscapedBytes(fields.cwd)) raw.cwd = base64(fields.cwd);
  if (fields.argv.some(hasEscapedBytes)) raw.argv = fields.argv.map(base64);
  return Object.keys(raw).length === 0 ? undefined : raw;
}
