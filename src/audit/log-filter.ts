import { type LogRecord, stringField } from "./log-line.ts";

export interface LogChoice {
  readonly denied: boolean;
  readonly events: readonly string[];
  readonly rules: readonly string[];
  /** Beginnings of session ids. */
  readonly sessions: readonly string[];
}

/** Whether a record is among those asked for; an empty list asks for all. */
export function isChosen(record: LogRecord, choice: LogChoice): boolean {
  const { denied, events, rules, sessions } = choice;
  if (denied && record.action !== "deny") return false;
  if (events.length > 0 && !events.includes(record.event)) return false;
  if (rules.length > 0 && !rules.includes(stringField(record, "rule_id"))) return false;
  if (sessions.length === 0) return true;
  const session = stringField(record, "session");
  return sessions.some((start) => session.startsWith(start));
}
