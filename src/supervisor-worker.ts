/** The Worker of `run`: serves the notifications until everything has ended. */
import { LineWriter } from "../ffi/calls/line-writer.ts";
import { execFailure, sendGo, sendPlan, takeListener } from "./launch/hand-over.ts";
import { journalSink } from "./supervise/journal-sink.ts";
import { Session } from "./supervise/session.ts";
import type { WorkerOrder, WorkerReport } from "./supervisor-messages.ts";

declare const self: Worker;

const stderr = new LineWriter(2);
const say = (line: string): void => void stderr.write(`faraday: ${line}\n`);
const nowMs = (): number => performance.now();
const report = (message: WorkerReport): void => self.postMessage(message);

self.onmessage = ({ data: { launcher, plan, session: config } }: MessageEvent<WorkerOrder>) => {
  sendPlan(launcher.socket, plan);
  const journal = journalSink(config.journalFd ?? -1);
  const session = new Session(config, { nowMs, say, journal });
  const listener = takeListener(launcher.socket);
  if (listener.kind === "failed") {
    report({ kind: "launch-failed", message: listener.message });
    return;
  }
  const result = session.run({
    listenerFd: listener.fd,
    commandPid: launcher.pid,
    childEventsFd: launcher.childEvents,
    go: () => sendGo(launcher.socket),
  });
  report({ kind: "ended", result, execErrno: execFailure(launcher.socket) });
};
