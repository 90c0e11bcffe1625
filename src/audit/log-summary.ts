import { type LogRecord, stringField } from "./log-line.ts";

export interface RuleSum {
  readonly event: string;
  readonly action: string;
  readonly rule: string;
  readonly count: number;
}

/** Counts verdicts by rule, whatever the length of the log. */
export class LogSummary {
  readonly #sums = new Map<string, { -readonly [K in keyof RuleSum]: RuleSum[K] }>();
  readonly #sessions = new Set<string>();
  #records = 0;

  add(record: LogRecord): void {
    this.#records++;
    const session = stringField(record, "session");
    if (session !== "") this.#sessions.add(session);
    const action = stringField(record, "action");
    if (action === "") return;
    const rule = stringField(record, "rule_id");
    const key = `${record.event}\0${action}\0${rule}`;
    const known = this.#sums.get(key);
    if (known !== undefined) known.count++;
    else this.#sums.set(key, { event: record.event, action, rule, count: 1 });
  }

  get records(): number {
    return this.#records;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** Denials first, then by how often. */
  get rules(): readonly RuleSum[] {
    const rank = ({ action }: RuleSum): number => (action === "deny" ? 0 : 1);
    return [...this.#sums.values()].sort((a, b) => rank(a) - rank(b) || b.count - a.count);
  }
}
