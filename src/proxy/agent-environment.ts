import type { NetworkPolicy } from "../policy/model.ts";
import type { SessionToken } from "./session-token.ts";

export interface EnvironmentChange {
  readonly set: ReadonlyMap<string, string>;
  readonly remove: readonly string[];
}

/** Loopback is reached directly: what is open there is up to the kernel pin, not to the proxy. */
const NO_PROXY = "localhost,127.0.0.1,::1";

/** What tells the agent's programs of the proxy, and keeps real secrets from them. */
export function agentEnvironment(
  network: NetworkPolicy,
  proxy: { readonly port: number; readonly token: SessionToken },
  secretVariables: readonly string[],
): EnvironmentChange {
  const { port, token } = proxy;
  const set = new Map<string, string>();
  const url = `http://faraday:${token.text}@127.0.0.1:${port}`;
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]) {
    set.set(name, url);
    set.set(name.toLowerCase(), url);
  }
  set.set("NO_PROXY", NO_PROXY);
  set.set("no_proxy", NO_PROXY);
  // Without it Node's own fetch does not look at the variables above.
  set.set("NODE_USE_ENV_PROXY", "1");
  for (const route of network.routes) {
    for (const { name, value } of route.env) {
      const base = `http://127.0.0.1:${port}/${route.name}`;
      set.set(name, value.replaceAll("{url}", base).replaceAll("{token}", token.text));
    }
  }
  return { set, remove: secretVariables.filter((name) => !set.has(name)) };
}

/** Shorter texts may be a variable's value, or a part of it, by chance. */
const VALUE_CHARACTERS_MIN = 8;
const PART_CHARACTERS_MIN = 16;

/**
 * The variables in which these secrets are found, whatever their names: the same key is often
 * exported twice, or is a part of a URL.
 */
export function variablesHolding(
  environment: readonly string[],
  secrets: readonly string[],
): readonly string[] {
  return environment.flatMap((entry) => {
    const mark = entry.indexOf("=");
    const value = entry.slice(mark + 1);
    const isHeld = secrets.some(
      (secret) =>
        (secret.length >= PART_CHARACTERS_MIN && value.includes(secret)) ||
        (secret.length >= VALUE_CHARACTERS_MIN && value === secret),
    );
    return isHeld ? entry.slice(0, mark) : [];
  });
}

/** Applies a change to `NAME=value` entries of one character a byte. */
export function changedEnvironment(
  environment: readonly string[],
  { set, remove }: EnvironmentChange,
): readonly string[] {
  const kept = environment.filter((entry) => {
    const name = entry.slice(0, entry.indexOf("="));
    return !set.has(name) && !remove.includes(name);
  });
  const added = Array.from(set, ([name, value]) =>
    Buffer.from(`${name}=${value}`, "utf8").toString("latin1"),
  );
  return [...kept, ...added];
}
