import { Signal } from "../../ffi/abi/process.ts";
import { kill } from "../../ffi/calls/process.ts";
import type { PreparedRun } from "../launch/prepare-run.ts";
import { type Refusal, refusal } from "../launch/refusal.ts";
import { changedEnvironment, variablesHolding } from "../proxy/agent-environment.ts";
import { secretVariables } from "../proxy/read-secrets.ts";
import type { RunningProxy } from "../proxy/start-proxy.ts";
import type { RunJournal } from "./run-journal.ts";

const EXIT_OWN_FAILURE = 125;

export interface ProxyShared {
  readonly journal: RunJournal;
  readonly session: string;
  readonly commandPid: number;
  readonly trace: boolean;
}

/** Where there is no proxy nobody needs the secrets, and the agent does not get them either. */
export function withoutSecrets({ network, loaded, plan }: PreparedRun): readonly string[] {
  const { environment } = plan;
  const named = secretVariables(network, loaded.policy.credentials);
  if (named.length === 0) return environment;
  const secrets = environment.flatMap((entry) => {
    const mark = entry.indexOf("=");
    return named.includes(entry.slice(0, mark)) ? entry.slice(mark + 1) : [];
  });
  const remove = [...named, ...variablesHolding(environment, secrets)];
  return changedEnvironment(environment, { set: new Map(), remove });
}

/** Starts the proxy if the network is filtered; null if there is nothing to filter. */
export async function startProxyIfAsked(
  run: PreparedRun,
  shared: ProxyShared,
): Promise<RunningProxy | Refusal | null> {
  const { network, loaded, plan, env } = run;
  if (network === null || network.blockAll) return null;
  const { startProxy } = await import("../proxy/start-proxy.ts");
  const { journal, session, commandPid, trace } = shared;
  const mayGoOn = loaded.policy.audit.onError === "continue";
  const proxy = await startProxy({
    policy: loaded.policy,
    network,
    session,
    environment: plan.environment,
    env,
    write: (record) => {
      if (journal.write(record) || mayGoOn) return true;
      // The run ends as it does when an exec cannot be recorded.
      kill(commandPid, Signal.KILL);
      return false;
    },
    say: (line) => void process.stderr.write(`faraday: ${line}\n`),
    trace,
  });
  if (proxy.ok) return proxy.value;
  return refusal(EXIT_OWN_FAILURE, proxy.error.message, proxy.error.hint);
}
