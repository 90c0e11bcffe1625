import type { AuditRecord } from "../audit/record.ts";
import type { NetworkPolicy, Policy } from "../policy/model.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { agentEnvironment, changedEnvironment, variablesHolding } from "./agent-environment.ts";
import { startFilterProxy } from "./filter-proxy.ts";
import { type NetDenial, NetLog } from "./net-log.ts";
import { DEFAULT_LIMITS } from "./proxy-limits.ts";
import { readSecrets, type SecretProblem } from "./read-secrets.ts";
import { systemResolver } from "./resolver.ts";
import { SessionToken } from "./session-token.ts";

export interface StartProxyOptions {
  readonly policy: Policy;
  readonly network: NetworkPolicy;
  readonly session: string;
  /** `NAME=value`, one character a byte. */
  readonly environment: readonly string[];
  readonly env: (name: string) => string | undefined;
  /** False: the record could not be written, so what it tells of must not happen. */
  readonly write: (record: AuditRecord) => boolean;
  readonly say: (line: string) => void;
  readonly trace: boolean;
}

export interface RunningProxy {
  readonly port: number;
  /** The agent's environment: with the proxy's variables, without real secrets. */
  readonly environment: readonly string[];
  readonly denials: () => readonly NetDenial[];
  readonly stop: () => void;
}

const COMMAND_MS = 60_000;

/** The proxy of a run: secrets first, since nothing may start without them. */
export async function startProxy(
  options: StartProxyOptions,
): Promise<Result<RunningProxy, SecretProblem>> {
  const { policy, network, session, write, say } = options;
  const secrets = await readSecrets(network, policy.credentials, {
    env: options.env,
    readFile: (path) => Bun.file(path).text(),
    run: runCommand,
  });
  if (!secrets.ok) return err(secrets.error);
  const token = SessionToken.make();
  const log = new NetLog({
    session,
    write,
    trace: options.trace ? say : null,
    now: () => Date.now(),
  });
  const proxy = startFilterProxy({
    network,
    policyName: policy.name,
    token,
    secrets: secrets.value.values,
    log,
    limits: DEFAULT_LIMITS,
    resolve: systemResolver(DEFAULT_LIMITS.resolveMs),
    clock: () => performance.now(),
    failed: (error) => say(`the proxy failed in a connection, which was ended: ${String(error)}`),
  });
  const { port } = proxy;
  const { values, variables } = secrets.value;
  const holding = variablesHolding(options.environment, [...values.values()]);
  const change = agentEnvironment(network, { port, token }, [...variables, ...holding]);
  return ok({
    port,
    environment: changedEnvironment(options.environment, change),
    denials: () => log.denials,
    stop: proxy.stop,
  });
}

/** Standard output alone is the secret; what it says on standard error is for the user. */
async function runCommand(argv: readonly string[]): Promise<Result<string, string>> {
  try {
    const child = Bun.spawn([...argv], {
      stdin: "inherit",
      stdout: "pipe",
      stderr: "inherit",
      timeout: COMMAND_MS,
    });
    const printed = await new Response(child.stdout).text();
    const code = await child.exited;
    return code === 0 ? ok(printed) : err(`ended with exit code ${code}`);
  } catch {
    return err("cannot be started");
  }
}
