/**
 * A record as it is read back. Another version, or another program, may have written it, so every
 * field is looked at before it is used.
 */
export interface LogRecord {
  readonly event: string;
  readonly [field: string]: unknown;
}

export type LogLine =
  | { readonly kind: "record"; readonly record: LogRecord; readonly text: string }
  | { readonly kind: "broken"; readonly number: number; readonly why: string };

/** Reads one line of a log; null for an empty one, which a full disk may leave behind. */
export function readLogLine(text: string, number: number): LogLine | null {
  if (text.trim() === "") return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "broken", number, why: "not JSON" };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { kind: "broken", number, why: "no record: not an object" };
  }
  const record = value as Readonly<Record<string, unknown>>;
  if (typeof record.event !== "string") {
    return { kind: "broken", number, why: "no record: it has no `event`" };
  }
  if (record.v !== 1) {
    const version = JSON.stringify(record.v ?? null);
    return { kind: "broken", number, why: `a record of version ${version}; this faraday reads 1` };
  }
  return { kind: "record", record: record as LogRecord, text };
}

export const stringField = (record: LogRecord, name: string): string => {
  const value = record[name];
  return typeof value === "string" ? value : "";
};

export const numberField = (record: LogRecord, name: string): number | null => {
  const value = record[name];
  return typeof value === "number" ? value : null;
};

export const listField = (record: LogRecord, name: string): readonly string[] => {
  const value = record[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
};
