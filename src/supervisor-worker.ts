/**
 * The Worker of `run`: starts the launcher at once, so that it boots while the main thread reads
 * the policy, then serves the notifications until everything has ended.
 */
import { writeSync } from "node:fs";
import { spawnLauncher } from "./launch/spawn-launcher.ts";
import type { WorkerOrder, WorkerReport } from "./supervisor-messages.ts";

declare const self: Worker;

const STDERR = 2;
const launcher = spawnLauncher(Bun.main, Number(process.argv.at(-1)));
const parts = Promise.all([import("./launch/hand-over.ts"), import("./supervise/session.ts")]);
const report = (message: WorkerReport): void => self.postMessage(message);
report({ kind: "started", pid: launcher.pid });

const say = (line: string): void => {
  try {
    writeSync(STDERR, `faraday: ${line}\n`);
  } catch {
    // A closed stderr must not end a run.
  }
};

self.onmessage = async ({ data: order }: MessageEvent<WorkerOrder>) => {
  const [handOver, { Session }] = await parts;
  handOver.sendPlan(launcher.socket, order.plan);
  const session = new Session(order.session, { nowMs: () => performance.now(), say });
  const listener = handOver.takeListener(launcher.socket);
  if (listener.kind === "failed") {
    report({ kind: "launch-failed", message: listener.message });
    return;
  }
  const result = session.run(listener.fd, launcher.pid, () => handOver.sendGo(launcher.socket));
  report({ kind: "ended", result, execErrno: handOver.execFailure(launcher.socket) });
};
