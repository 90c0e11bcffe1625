import { isChosen } from "../audit/log-filter.ts";
import { type LogRecord, readLogLine } from "../audit/log-line.ts";
import { LogSummary } from "../audit/log-summary.ts";
import { ProcessTree } from "../audit/process-tree.ts";
import { type Paint, painter, wantsColor } from "../cli/color.ts";
import type { LogInvocation } from "../cli/invocation.ts";
import type { TerminalIo } from "../cli/terminal-io.ts";
import { LogSource } from "../launch/log-source.ts";
import { escapeControl } from "../policy/escape-control.ts";
import { recordText, summaryText, treeText } from "./log-text.ts";

/** Raised only when a field changes its meaning or goes away; new fields do not count. */
const REPORT_VERSION = 1;
const FOLLOW_INTERVAL_MS = 100;
/** A file that is no log at all would be complained of line by line. */
const COMPLAINTS_MAX = 5;

/** Shows an audit log; returns 1 if it could not be read, or not all of it. */
export async function runLog(invocation: LogInvocation, io: TerminalIo): Promise<number> {
  const source = new LogSource(invocation.path);
  const view = new LogView(invocation, io);
  for (let failure = source.open(); failure !== null; failure = source.open()) {
    if (!(invocation.follow && failure === "ENOENT")) return view.unreadable(failure);
    await Bun.sleep(FOLLOW_INTERVAL_MS);
  }
  for (;;) {
    const lines = source.read();
    if (lines !== null) {
      view.show(lines);
      // `| head` has seen enough.
      if (io.stdout.isGone?.() === true) return 0;
      continue;
    }
    if (!invocation.follow || invocation.path === "-") break;
    if (source.reopened()) view.restart();
    else await Bun.sleep(FOLLOW_INTERVAL_MS);
  }
  view.finish(source.unfinished);
  return view.broken === 0 ? 0 : 1;
}

class LogView {
  broken = 0;
  readonly #invocation: LogInvocation;
  readonly #io: TerminalIo;
  readonly #paint: Paint;
  readonly #summary = new LogSummary();
  readonly #tree = new ProcessTree();
  #line = 0;
  /** Records, chosen or not. */
  #read = 0;

  constructor(invocation: LogInvocation, io: TerminalIo) {
    this.#invocation = invocation;
    this.#io = io;
    this.#paint = painter({ color: wantsColor(invocation.color, io.stdout, io.env) });
  }

  unreadable(failure: string): number {
    const path = escapeControl(this.#invocation.path);
    const what =
      failure === "ENOENT"
        ? `there is no log ${path}`
        : `the log ${path} cannot be read: ${failure}`;
    this.#io.stderr.write(`faraday: ${what}\n`);
    this.#io.stderr.write("hint: name the file that `faraday run --audit FILE` wrote\n");
    return 1;
  }

  show(lines: readonly string[]): void {
    let text = "";
    for (const line of lines) text += this.#take(line);
    if (text !== "") this.#io.stdout.write(text);
  }

  /** The file was cut or replaced. */
  restart(): void {
    this.#line = 0;
  }

  /** The last line may lack its newline, whole or not: a run may be writing it just now. */
  finish(unfinished: string): void {
    if (unfinished !== "") {
      const last = readLogLine(unfinished, this.#line + 1);
      if (last?.kind === "record") this.show([unfinished]);
      else this.#complain(this.#line + 1, "not finished; the log may still be written");
    }
    const { json, tree, summary, follow } = this.#invocation;
    const { stdout } = this.#io;
    this.#hint();
    if (tree) stdout.write(treeText(this.#tree, this.#paint));
    else if (json && summary) stdout.write(`${JSON.stringify(this.#report())}\n`);
    else if (!json && !follow) {
      const text = summaryText(this.#summary, this.broken, this.#paint);
      stdout.write(summary ? text : `\n${text}`);
    }
  }

  #take(line: string): string {
    this.#line++;
    const read = readLogLine(line, this.#line);
    if (read === null) return "";
    if (read.kind === "broken") {
      this.broken++;
      if (this.broken <= COMPLAINTS_MAX) this.#complain(read.number, read.why);
      return "";
    }
    this.#read++;
    if (!isChosen(read.record, this.#invocation)) return "";
    this.#summary.add(read.record);
    return this.#shown(read.record, read.text);
  }

  #shown(record: LogRecord, line: string): string {
    const { json, tree, summary } = this.#invocation;
    if (tree) this.#tree.add(record);
    if (tree || summary) return "";
    return json ? `${line}\n` : `${recordText(record, this.#paint)}\n`;
  }

  #complain(number: number, why: string): void {
    const path = escapeControl(this.#invocation.path);
    this.#io.stderr.write(`faraday: ${path}:${number}: ${escapeControl(why)}\n`);
  }

  #hint(): void {
    const { stderr } = this.#io;
    if (this.#read === 0 && this.broken > 0) {
      stderr.write("hint: this is no log; name the file that `faraday run --audit FILE` wrote\n");
    } else if (this.#read > 0 && this.#summary.records === 0) {
      stderr.write(`hint: the log has ${this.#read} records, and none fits what was asked for\n`);
    }
  }

  #report(): object {
    return {
      v: REPORT_VERSION,
      runs: this.#summary.sessions,
      records: this.#summary.records,
      broken_lines: this.broken,
      rules: this.#summary.rules.map(({ event, action, rule, count }) => ({
        event,
        action,
        rule_id: rule === "" ? null : rule,
        count,
      })),
    };
  }
}
