import { PR_SET_DUMPABLE } from "../../ffi/abi/process.ts";
import { exitNow, prctl, raiseOpenFilesLimit } from "../../ffi/calls/process.ts";
import type { RunInvocation } from "../cli/invocation.ts";
import { VERSION } from "../cli/version.ts";
import { readCallerState } from "../launch/caller-state.ts";
import { sendPlan } from "../launch/hand-over.ts";
import { type PreparedRun, prepareRun } from "../launch/prepare-run.ts";
import { type Refusal, refusal } from "../launch/refusal.ts";
import type { Launcher } from "../launch/spawn-launcher.ts";
import { superviseSignals } from "../launch/supervise-signals.ts";
import type { RunningProxy } from "../proxy/start-proxy.ts";
import { BusyMark } from "../supervise/busy-mark.ts";
import { watchSupervisor } from "../supervise/watchdog.ts";
import type { WorkerMessage, WorkerOrder, WorkerReport } from "../supervisor-messages.ts";
import { RunJournal } from "./run-journal.ts";
import { startProxyIfAsked, withoutSecrets } from "./run-proxy.ts";

const EXIT_OWN_FAILURE = 125;
const EXIT_NOT_EXECUTED = 126;

/** Ends the process with the command's exit code; never returns to the caller. */
export async function runRun(
  invocation: RunInvocation,
  launcher: Launcher,
  worker: Worker,
): Promise<never> {
  const ended = workerReport(worker);
  const caller = readCallerState({ ignoredChildren: launcher.ignoredChildren });
  superviseSignals(caller.ignoredSignals, launcher.pid);
  const tell = (message: WorkerMessage): void => worker.postMessage(message);
  const prepared = await prepareRun(invocation, caller, (policy) =>
    tell({ kind: "policy", policy }),
  );
  if (!prepared.ok) return refuse(prepared.error, invocation);
  const run = prepared.value;
  const session = crypto.getRandomValues(new Uint8Array(8)).toHex();
  const journal = openJournal(invocation, session, run);
  if (!(journal instanceof RunJournal)) return refuse(journal, invocation);
  if (run.warnings.length > 0) (await import("./run-report.ts")).reportWarnings(run.warnings);
  // Nobody of our own user may read the supervisor's memory or trace it.
  prctl(PR_SET_DUMPABLE, 0);
  raiseOpenFilesLimit();

  const trace = process.env.FARADAY_LOG === "debug";
  const commandPid = launcher.pid;
  const proxy = await startProxyIfAsked(run, { journal, session, commandPid, trace });
  if (proxy !== null && "exit" in proxy) return refuse(proxy, invocation);
  const busyMark = new SharedArrayBuffer(BusyMark.BYTES);
  const shared = { launcher, session, journalFd: journal.fd, busyMark, trace, proxy };
  // First the one that has more to do with it.
  sendPlan(launcher.socket, {
    ...run.plan,
    environment: proxy?.environment ?? withoutSecrets(run),
  });
  tell({ kind: "order", ...orderFor(invocation, run, shared) });
  const { onSupervisorTimeoutMs } = run.loaded.policy.meta;
  watchSupervisor(new BusyMark(busyMark), onSupervisorTimeoutMs, {
    refused: (tid) => {
      journal.timeout(tid);
      process.stderr.write("faraday: a verdict took too long, so the answer was deny\n");
    },
    hanging: () => {
      process.stderr.write("faraday: the supervisor hangs, so the run was ended\n");
      exitNow(EXIT_OWN_FAILURE);
    },
  });
  return finish(await ended, journal, proxy, run, invocation);
}

function orderFor(
  invocation: RunInvocation,
  run: PreparedRun,
  shared: {
    launcher: Launcher;
    session: string;
    journalFd: number | null;
    busyMark: SharedArrayBuffer;
    trace: boolean;
    proxy: RunningProxy | null;
  },
): WorkerOrder {
  return {
    mayEndRun: shared.journalFd === null && shared.proxy === null,
    launcher: shared.launcher,
    session: {
      journalFd: shared.journalFd,
      sessionId: shared.session,
      trace: shared.trace,
      verifies: run.verifies,
      waitAll: invocation.waitAll,
      writableTrees: run.writableTrees,
      isSealed: run.layers.files.state === "enforced",
      neighbours: run.neighbours,
      explain: run.explain,
      pin: run.pin === null ? null : { ...run.pin, proxyPort: shared.proxy?.port ?? null },
      busyMark: shared.busyMark,
    },
  };
}

function openJournal(
  invocation: RunInvocation,
  session: string,
  run: PreparedRun,
): RunJournal | Refusal {
  try {
    const journal = new RunJournal(invocation.audit, session);
    const head = { session, version: VERSION, argv: invocation.argv };
    if (journal.start(run, head) || run.loaded.policy.audit.onError === "continue") return journal;
    return refusal(
      EXIT_OWN_FAILURE,
      `the audit log cannot be written: ${journal.failure}`,
      'free space, name another file, or set `[audit] on_error = "continue"`',
    );
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refusal(
      EXIT_OWN_FAILURE,
      `the audit log cannot be opened: ${why}`,
      "name a file in a directory that exists and that you may write",
    );
  }
}

async function finish(
  report: WorkerReport,
  journal: RunJournal,
  proxy: RunningProxy | null,
  run: PreparedRun,
  invocation: RunInvocation,
): Promise<never> {
  // Nobody is left to ask it; what it could not record counts as any other record.
  proxy?.stop();
  if (report.kind === "launch-failed") {
    const message = `a layer could not be enforced: ${report.message}`;
    return refuse(refusal(EXIT_NOT_EXECUTED, message), invocation);
  }
  if (report.kind === "crashed") {
    const message = `the supervisor failed, so the run was ended: ${report.message}`;
    return refuse(refusal(EXIT_OWN_FAILURE, message), invocation);
  }
  const { ending, counts, denials, fileDenials, socketDenials, journalFailure } = report.result;
  const exit = exitCode(report);
  const { leftovers, leftoversHandled, signal } = ending;
  const isProxyBroken = journal.failure !== null && run.loaded.policy.audit.onError === "stop";
  const isRecorded = journal.end({
    exit,
    signal,
    counts,
    leftovers: { count: leftovers.length, handled: leftoversHandled },
  });
  const isBroken = isProxyBroken || (!isRecorded && run.loaded.policy.audit.onError === "stop");
  const failure = journalFailure ?? (isBroken ? journal.failure : null);
  if (failure !== null || denials.length > 0 || report.execErrno !== null) {
    const { reportEnd } = await import("./run-report.ts");
    reportEnd({ run, invocation, denials, execErrno: report.execErrno, journalFailure: failure });
  }
  if (fileDenials.length > 0) {
    const { reportFileDenials } = await import("./run-file-denials.ts");
    reportFileDenials(fileDenials, invocation.color);
  }
  const netDenials = proxy?.denials() ?? [];
  if (netDenials.length > 0) {
    const { reportNetDenials } = await import("./run-net-denials.ts");
    reportNetDenials(netDenials, run.loaded.policy.name, invocation.color);
  }
  const tampered = journal.restore();
  if (tampered !== null) process.stderr.write(`faraday: ${tampered}\n`);
  if (socketDenials.length > 0) {
    const { reportSocketDenials } = await import("./run-socket-denials.ts");
    reportSocketDenials(socketDenials, invocation.color);
  }
  exitNow(failure !== null ? EXIT_OWN_FAILURE : exit);
}

function exitCode(report: Extract<WorkerReport, { kind: "ended" }>): number {
  if (report.execErrno === null) return report.result.ending.exit;
  return EXIT_NOT_EXECUTED;
}

async function refuse(reason: Refusal, invocation: RunInvocation): Promise<never> {
  const { reportRefusal } = await import("./run-report.ts");
  reportRefusal(reason, invocation);
  exitNow(reason.exit);
}

/** The one report of the Worker. */
function workerReport(worker: Worker): Promise<WorkerReport> {
  return new Promise((resolve) => {
    worker.onmessage = ({ data }: MessageEvent<WorkerReport>) => resolve(data);
    worker.onerror = (event) => resolve({ kind: "crashed", message: event.message });
  });
}
