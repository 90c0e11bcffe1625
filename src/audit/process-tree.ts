import { type LogRecord, numberField, stringField } from "./log-line.ts";

export interface ProcessNode {
  readonly pid: number;
  /** What it became and tried, in order. */
  readonly records: LogRecord[];
  readonly children: ProcessNode[];
}

/** Puts the records of each run below the process that made them, and those below their parents. */
export class ProcessTree {
  readonly #runs = new Map<string, { start: LogRecord | null; roots: ProcessNode[] }>();
  readonly #nodes = new Map<string, { node: ProcessNode; ppid: number }>();

  add(record: LogRecord): void {
    const session = stringField(record, "session");
    const run = this.#run(session);
    if (record.event === "start") run.start = record;
    const pid = numberField(record, "pid");
    const ppid = numberField(record, "ppid");
    // A shell's tries along PATH would bury what was found.
    if (pid === null || ppid === null || record.action === "error") return;
    const key = `${session}\0${pid}`;
    const known = this.#nodes.get(key);
    // The same number under another parent is another process, unless its own parent has ended.
    if (known !== undefined && (known.ppid === ppid || !this.#nodes.has(`${session}\0${ppid}`))) {
      known.node.records.push(record);
      return;
    }
    const node: ProcessNode = { pid, records: [record], children: [] };
    this.#nodes.set(key, { node, ppid });
    const parent = this.#nodes.get(`${session}\0${ppid}`);
    (parent?.node.children ?? run.roots).push(node);
  }

  get runs(): readonly { readonly start: LogRecord | null; readonly roots: ProcessNode[] }[] {
    return [...this.#runs.values()];
  }

  #run(session: string): { start: LogRecord | null; roots: ProcessNode[] } {
    const known = this.#runs.get(session);
    if (known !== undefined) return known;
    const run = { start: null, roots: [] };
    this.#runs.set(session, run);
    return run;
  }
}
