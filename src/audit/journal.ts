import { hasEscapedBytes, textToBytes } from "../policy/byte-text.ts";
import type { AuditRecord, RawBytes } from "./record.ts";

/** Where lines go. `problem` is set when not all of a line could be written. */
export interface JournalSink {
  readonly write: (line: string) => { readonly problem: string | null; readonly done: number };
}

/**
 * Writes records as JSON lines. A record is in the kernel's hands when `write` returns true; the
 * verdict that it tells of may take effect only then.
 */
export class Journal {
  readonly #sink: JournalSink | null;
  #failure: string | null = null;

  /** Without a sink every write succeeds and goes nowhere. */
  constructor(sink: JournalSink | null) {
    this.#sink = sink;
  }

  /** Why writing failed, once it did. */
  get failure(): string | null {
    return this.#failure;
  }

  get enabled(): boolean {
    return this.#sink !== null;
  }

  write(record: AuditRecord): boolean {
    return this.#sink === null || this.writeJson(JSON.stringify(record));
  }

  /** A record that is JSON already. */
  writeJson(json: string): boolean {
    if (this.#sink === null) return true;
    const { problem, done } = this.#sink.write(`${json}\n`);
    if (problem === null) return true;
    this.#failure = problem;
    // Half a line would swallow the next record; if even this fails there is no next one.
    if (done > 0) this.#sink.write("\n");
    return false;
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
