/** The Worker of `run`: serves the notifications until everything has ended. */
import { LineWriter } from "../ffi/calls/line-writer.ts";
import { execFailure, sendGo, sendPlan, takeListener } from "./launch/hand-over.ts";
import { journalSink } from "./supervise/journal-sink.ts";
import { Session } from "./supervise/session.ts";
import type { WorkerOrder, WorkerReport } from "./supervisor-messages.ts";

declare const self: Worker;

const stderr = new LineWriter(2);
const say = (line: string): void => void stderr.write(`faraday: ${line}\n`);
const collectGarbage = (): void => Bun.gc(true);
const nowMs = (): number => performance.now();

function serve({ launcher, plan, session: config }: WorkerOrder): WorkerReport {
  sendPlan(launcher.socket, plan);
  const journal = journalSink(config.journalFd ?? -1);
  const session = new Session(config, { nowMs, say, journal, collectGarbage });
  session.rehearse();
  const listener = takeListener(launcher.socket);
  if (listener.kind === "failed") return { kind: "launch-failed", message: listener.message };
  const result = session.run({
    listenerFd: listener.fd,
    commandPid: launcher.pid,
    childEventsFd: launcher.childEvents,
    go: () => sendGo(launcher.socket),
  });
  return { kind: "ended", result, execErrno: execFailure(launcher.socket) };
}

self.onmessage = ({ data }: MessageEvent<WorkerOrder>) => {
  try {
    self.postMessage(serve(data));
  } catch (error) {
    // A bug of ours. The main thread ends the run at once, and with it the command.
    const message = error instanceof Error ? error.message : String(error);
    self.postMessage({ kind: "crashed", message } satisfies WorkerReport);
  }
};
