import { type LogRecord, listField, numberField, stringField } from "../audit/log-line.ts";
import type { LogSummary } from "../audit/log-summary.ts";
import type { ProcessNode, ProcessTree } from "../audit/process-tree.ts";
import type { Paint } from "../cli/color.ts";
import { quoteWords } from "../cli/quote-words.ts";
import { escapeControl } from "../policy/escape-control.ts";

const COMMAND_CHARACTERS_MAX = 200;
const DEPTH_MAX = 64;

/** One record as one line: when, what became of it, what it was, and why. */
export function recordText(record: LogRecord, paint: Paint): string {
  const mark = markOf(record);
  const padded = mark.padEnd("killed".length);
  const shown = isDenied(record) ? paint("error", padded) : padded;
  return `${paint("faint", timeOf(record))}  ${shown}  ${subjectOf(record)}${whyOf(record, paint)}`;
}

function timeOf(record: LogRecord): string {
  const seconds = numberField(record, "ts");
  if (seconds === null || !(Math.abs(seconds) < 1e11)) return "--:--:--";
  return new Date(seconds * 1000).toTimeString().slice(0, "hh:mm:ss".length);
}

const isDenied = (record: LogRecord): boolean => record.action === "deny";

function markOf(record: LogRecord): string {
  const action = stringField(record, "action");
  if (record.event === "net-end") return "closed";
  if (action === "") return escapeControl(record.event);
  // What was running by then and is denied has been killed.
  return record.event === "exec-mismatch" && action === "deny" ? "killed" : escapeControl(action);
}

function subjectOf(record: LogRecord): string {
  switch (record.event) {
    case "start":
      return commandText(listField(record, "argv"));
    case "end":
      return endText(record);
    case "exec":
    case "exec-mismatch": {
      const argv = listField(record, "argv");
      const exe = stringField(record, "exe") || argv[0] || "(unknown)";
      return commandText([exe, ...argv.slice(1)]);
    }
    case "file": {
      const rights = listField(record, "rights").join(", ");
      const text = `${stringField(record, "call")} ${stringField(record, "path")}`;
      return escapeControl(`${text}${rights === "" ? "" : ` (${rights})`}`);
    }
    case "net":
    case "net-end":
      return escapeControl(netSubject(record));
    default:
      return escapeControl(`${record.event} ${otherFields(record)}`);
  }
}

/** A request of the proxy, or a call on a socket; at its end what went both ways. */
function netSubject(record: LogRecord): string {
  const [host, port] = [stringField(record, "host"), numberField(record, "port")];
  const place = port === null ? host : `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const verb = stringField(record, "method") || stringField(record, "call");
  const route = stringField(record, "route");
  const target = `${place}${stringField(record, "path")}${route === "" ? "" : ` (route ${route})`}`;
  if (record.event === "net") return `${verb} ${target}`.trim();
  const [sent, received] = [numberField(record, "sent"), numberField(record, "received")];
  const error = stringField(record, "error");
  const sums = `${sent ?? "?"} bytes sent, ${received ?? "?"} received`;
  return `${target}: ${sums}${error === "" ? "" : `, ${error}`}`;
}

/** What every record has, or what stands elsewhere in its line. */
const COMMON = ["v", "event", "ts", "session", "pid", "ppid", "uid", "action", "rule_id", "reason"];

/** Events that this version has no words for are shown as they are. */
function otherFields(record: LogRecord): string {
  return Object.entries(record)
    .filter(([name, value]) => !COMMON.includes(name) && value !== null)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}

function commandText(argv: readonly string[]): string {
  const text = quoteWords(argv);
  return text.length > COMMAND_CHARACTERS_MAX ? `${text.slice(0, COMMAND_CHARACTERS_MAX)}…` : text;
}

function endText(record: LogRecord): string {
  const exit = numberField(record, "exit");
  const signal = numberField(record, "signal");
  const counts = record.counts;
  const sums =
    typeof counts === "object" && counts !== null
      ? Object.entries(counts).filter(([, count]) => typeof count === "number" && count > 0)
      : [];
  const text = sums.map(([name, count]) => `${count} ${name}`).join(", ");
  const how = signal === null ? `exit ${exit ?? "?"}` : `killed by signal ${signal}`;
  return escapeControl(text === "" ? how : `${how}: ${text}`);
}

function whyOf(record: LogRecord, paint: Paint): string {
  if (record.event === "start") {
    const policy = record.policy as { path?: unknown } | null | undefined;
    const path = typeof policy?.path === "string" ? policy.path : "?";
    const session = stringField(record, "session").slice(0, 8);
    return paint("faint", escapeControl(`  policy ${path}, session ${session}`));
  }
  const rule = stringField(record, "rule_id");
  const grant = stringField(record, "grant");
  const hole = stringField(record, "hole");
  const reason = isDenied(record) ? stringField(record, "reason") : "";
  const parts = [
    rule,
    reason,
    grant === "" ? "" : `would need ${grant}`,
    hole === "" ? "" : `lies in the hole ${hole}`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? "" : `  ${paint("faint", escapeControl(parts.join(": ")))}`;
}

export function summaryText(summary: LogSummary, broken: number, paint: Paint): string {
  const rows = summary.rules;
  const width = Math.max(0, ...rows.map(({ count }) => String(count).length));
  const lines = rows.map(({ event, action, rule, count }) => {
    const mark = action.padEnd("allow".length);
    const shown = action === "deny" ? paint("error", mark) : escapeControl(mark);
    const what = rule === "" ? "" : `  ${escapeControl(rule)}`;
    const kind = event === "exec" ? "" : `  (${escapeControl(event)})`;
    return `  ${String(count).padStart(width)}  ${shown}${what}${kind}`;
  });
  const runs = `${summary.sessions} ${summary.sessions === 1 ? "run" : "runs"}`;
  const records = `${summary.records} ${summary.records === 1 ? "record" : "records"}`;
  const bad = broken === 0 ? "" : `, ${broken} broken ${broken === 1 ? "line" : "lines"}`;
  return `${[`${runs}, ${records}${bad}`, ...lines].join("\n")}\n`;
}

export function treeText(tree: ProcessTree, paint: Paint): string {
  return tree.runs
    .map(({ start, roots }) => {
      const head = start === null ? [] : [recordText(start, paint)];
      const lines = roots.flatMap((node, at) =>
        nodeLines(node, { prefix: "", isLast: at === roots.length - 1, depth: 0 }, paint),
      );
      return `${[...head, ...lines].join("\n")}\n`;
    })
    .join("\n");
}

interface Branch {
  readonly prefix: string;
  readonly isLast: boolean;
  readonly depth: number;
}

function nodeLines(node: ProcessNode, branch: Branch, paint: Paint): string[] {
  const { prefix, isLast, depth } = branch;
  const below = `${prefix}${isLast ? "   " : "│  "}`;
  const lines = node.records.map((record, index) => {
    const lead = index === 0 ? `${prefix}${isLast ? "└─ " : "├─ "}` : `${below}= `;
    const mark = isDenied(record) ? `${paint("error", markOf(record))} ` : "";
    const why = isDenied(record) ? whyOf(record, paint) : "";
    return `${lead}${mark}${subjectOf(record)}${why}`;
  });
  if (depth >= DEPTH_MAX && node.children.length > 0) return [...lines, `${below}└─ …`];
  const children = node.children.flatMap((child, at) =>
    nodeLines(
      child,
      { prefix: below, isLast: at === node.children.length - 1, depth: depth + 1 },
      paint,
    ),
  );
  return [...lines, ...children];
}
