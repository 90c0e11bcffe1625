/** The Worker of `run`: serves the notifications until everything has ended. */
import { writeSync } from "node:fs";
import { execFailure, sendGo, sendPlan, takeListener } from "./launch/hand-over.ts";
import { Session } from "./supervise/session.ts";
import type { WorkerOrder, WorkerReport } from "./supervisor-messages.ts";

declare const self: Worker;

const STDERR = 2;
const report = (message: WorkerReport): void => self.postMessage(message);

const say = (line: string): void => {
  try {
    writeSync(STDERR, `faraday: ${line}\n`);
  } catch {
    // A closed stderr must not end a run.
  }
};

self.onmessage = ({ data: { launcher, plan, session: config } }: MessageEvent<WorkerOrder>) => {
  sendPlan(launcher.socket, plan);
  const session = new Session(config, { nowMs: () => performance.now(), say });
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
