import type { CredentialPolicy, CredentialSource, NetworkPolicy } from "../policy/model.ts";
import { err, ok, type Result } from "../policy/result.ts";

export interface SecretProblem {
  readonly message: string;
  readonly hint: string;
}

export interface Secrets {
  /** By credential key. */
  readonly values: ReadonlyMap<string, string>;
  /** The variables that held them, which the agent must not get. */
  readonly variables: readonly string[];
}

/** Effects: where secrets come from. */
export interface SecretSources {
  readonly env: (name: string) => string | undefined;
  /** Throws if the file cannot be read. */
  readonly readFile: (path: string) => Promise<string>;
  /** What the command printed, or why there is nothing; no shell is involved. */
  readonly run: (argv: readonly string[]) => Promise<Result<string, string>>;
}

/** A credential without a table of its own is taken from where most tools keep it. */
function sourceOf(key: string, credentials: readonly CredentialPolicy[]): CredentialSource {
  const table = credentials.find((each) => each.key === key);
  if (table !== undefined) return table.source;
  return { kind: "env", name: `${key.toUpperCase().replaceAll("-", "_")}_API_KEY` };
}

/** Takes what the routes need, and nothing else; what is missing is an error before the start. */
export async function readSecrets(
  network: NetworkPolicy,
  credentials: readonly CredentialPolicy[],
  sources: SecretSources,
): Promise<Result<Secrets, SecretProblem>> {
  const values = new Map<string, string>();
  for (const { name, credentialKey: key, inject } of network.routes) {
    if (key === null || inject === null) continue;
    const source = sourceOf(key, credentials);
    const text = values.get(key) ?? (await readSecret(source, sources));
    if (typeof text !== "string") {
      const whose = `the credential \`${key}\` of the route \`${name}\``;
      const message = `${whose} is missing: ${text.message}`;
      return err({ message, hint: text.hint });
    }
    // A line break would end the header that the secret is put into, and begin another.
    const isWhole = /^[\x20-\x7e]+$/.test(text);
    const fits = inject.mode !== "basic" || inject.format.replace("{}", text).includes(":");
    if (!isWhole || !fits) {
      const what = isWhole ? "has no colon between user and password" : "is not one line of ASCII";
      const hint = isWhole ? 'give the user with inject_format = "user:{}"' : describe(source);
      return err({ message: `the credential \`${key}\` of the route \`${name}\` ${what}`, hint });
    }
    values.set(key, text);
  }
  return ok({ values, variables: secretVariables(network, credentials) });
}

/**
 * The variables that hold secrets, also those that no route uses now: they were written down to be
 * kept from the agent.
 */
export function secretVariables(
  network: NetworkPolicy | null,
  credentials: readonly CredentialPolicy[],
): readonly string[] {
  const keys = (network?.routes ?? []).flatMap(({ credentialKey }) => credentialKey ?? []);
  const sources = [
    ...credentials.map(({ source }) => source),
    ...keys.map((key) => sourceOf(key, credentials)),
  ];
  return [...new Set(sources.flatMap((source) => (source.kind === "env" ? source.name : [])))];
}

function describe(source: CredentialSource): string {
  switch (source.kind) {
    case "env":
      return `it comes from the environment variable ${source.name}`;
    case "file":
      return `it comes from ${source.path}`;
    case "command":
      return `it comes from the command ${source.argv.join(" ")}`;
    default:
      return source satisfies never;
  }
}

async function readSecret(
  source: CredentialSource,
  sources: SecretSources,
): Promise<string | SecretProblem> {
  switch (source.kind) {
    case "env": {
      const value = sources.env(source.name);
      if (value !== undefined && value !== "") return value;
      const message = `the environment variable ${source.name} is not set`;
      return { message, hint: "set it, or name another source in a [credentials] table" };
    }
    case "file":
      try {
        return trimEnd(await sources.readFile(source.path)) || emptyProblem(source);
      } catch (error) {
        const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
        const message = `${source.path} cannot be read${code}`;
        return { message, hint: "name a file that you may read" };
      }
    case "command": {
      const printed = await sources.run(source.argv);
      if (printed.ok) return trimEnd(printed.value) || emptyProblem(source);
      const message = `the command ${source.argv[0]} ${printed.error}`;
      return { message, hint: "try the command by hand; no shell is involved" };
    }
    default:
      return source satisfies never;
  }
}

const trimEnd = (text: string): string => text.replace(/\r?\n$/, "");

function emptyProblem(source: CredentialSource): SecretProblem {
  return { message: "it is empty", hint: describe(source) };
}
