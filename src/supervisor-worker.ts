/** The Worker of `run`: serves the notifications until everything has ended. */
import { LineWriter } from "../ffi/calls/line-writer.ts";
import { exitNow } from "../ffi/calls/process.ts";
import { execFailure, sendGo, takeListener } from "./launch/hand-over.ts";
import { journalSink } from "./supervise/journal-sink.ts";
import { ReadyPolicy } from "./supervise/ready-policy.ts";
import { Session } from "./supervise/session.ts";
import type { WorkerMessage, WorkerOrder, WorkerReport } from "./supervisor-messages.ts";

declare const self: Worker;

const stderr = new LineWriter(2);
const say = (line: string): void => void stderr.write(`faraday: ${line}\n`);
const collectGarbage = (): void => Bun.gc(true);
const nowMs = (): number => performance.now();

function serve(ready: ReadyPolicy, { launcher, session: config }: WorkerOrder): WorkerReport {
  const journal = journalSink(config.journalFd ?? -1);
  const session = new Session(ready, config, { nowMs, say, journal, collectGarbage });
  let failure = "";
  const result = session.run({
    awaitListener: () => {
      const taken = takeListener(launcher.socket);
      if (taken.kind === "listener") return taken.fd;
      failure = taken.message;
      return null;
    },
    commandPid: launcher.pid,
    childEventsFd: launcher.childEvents,
    go: () => sendGo(launcher.socket),
  });
  if (result === null) return { kind: "launch-failed", message: failure };
  return { kind: "ended", result, execErrno: execFailure(launcher.socket) };
}

type EndReport = Extract<WorkerReport, { kind: "ended" }>;

function isUneventful(report: WorkerReport): report is EndReport {
  if (report.kind !== "ended" || report.execErrno !== null) return false;
  const { denials, fileDenials, socketDenials, journalFailure } = report.result;
  return denials.length + fileDenials.length + socketDenials.length === 0 && !journalFailure;
}

function take(message: WorkerMessage): void {
  if (message.kind === "policy") {
    const ready = new ReadyPolicy(message.policy);
    self.onmessage = guarded((order) => {
      if (order.kind !== "order") return;
      const report = serve(ready, order);
      // Waking the main thread only for it to exit would take as long as many a command does.
      if (order.mayEndRun && isUneventful(report)) exitNow(report.result.ending.exit);
      self.postMessage(report);
    });
  }
}

function guarded(handle: (message: WorkerMessage) => void) {
  return ({ data }: MessageEvent<WorkerMessage>): void => {
    try {
      handle(data);
    } catch (error) {
      // A bug of ours. The main thread ends the run at once, and with it the command.
      const message = error instanceof Error ? error.message : String(error);
      self.postMessage({ kind: "crashed", message } satisfies WorkerReport);
    }
  };
}

self.onmessage = guarded(take);
