/**
 * Runs a real coding agent against a scripted model, first without Faraday and then under its
 * profile, and compares what came of it: the work must be done, the mischief must be stopped, and
 * without Faraday all of it must come about, or its being stopped would prove nothing.
 *
 *   scripts/try-agent claude|codex|gemini|all [--place DIR] [--policy POLICY] [--flag=FLAG]...
 *
 * It downloads the client from npm (up to 300 MB) into build/agents. Nothing but loopback is
 * talked to. Exit code 1 on any miss.
 */
import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { claude } from "./agents/claude.ts";
import type { Client } from "./agents/client.ts";
import { codex } from "./agents/codex.ts";
import { gemini } from "./agents/gemini.ts";
import { installClient } from "./agents/install-client.ts";
import { type Row, renderTable, rowsOf } from "./agents/judge-trial.ts";
import { runTrial, type TrialOutcome } from "./agents/run-trial.ts";
import type { TrialPlace } from "./agents/trial-place.ts";
import { REPOSITORY } from "./source-files.ts";

const CLIENTS: readonly Client[] = [claude, codex, gemini];
const FARADAY = resolve(process.env.FARADAY_BINARY ?? join(REPOSITORY, "dist/faraday"));
const AGENTS = join(REPOSITORY, "build/agents");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    place: { type: "string", default: join(AGENTS, "trials") },
    policy: { type: "string" },
    flag: { type: "string", multiple: true, default: [] },
    verbose: { type: "boolean", default: false },
  },
});
const chosen = CLIENTS.filter(({ name }) => positionals[0] === name || positionals[0] === "all");
if (chosen.length === 0 || positionals.length !== 1) {
  const names = [...CLIENTS.map(({ name }) => name), "all"].join("|");
  console.error(`usage: scripts/try-agent ${names} [--place DIR] [--policy POLICY]`);
  process.exit(2);
}
if (!existsSync(FARADAY)) {
  console.error("try-agent: there is no dist/faraday; run `npm run build` first");
  process.exit(1);
}

mkdirSync(values.place, { recursive: true });
const root = realpathSync(values.place);
if (/^\/(?:tmp|var\/tmp|dev\/shm)(?:\/|$)/.test(root)) {
  console.error(`try-agent: ${root} is temporary, where every profile lets an agent write`);
  process.exit(2);
}

const misses: Row[] = [];
for (const client of chosen) misses.push(...(await tryClient(client)));
process.exit(misses.length === 0 ? 0 : 1);

async function tryClient(client: Client): Promise<readonly Row[]> {
  const program = installClient(client, AGENTS);
  const trial = { client, program };
  const policy = policyFor(client);
  const bare = await runTrial({
    ...trial,
    path: join(root, `${client.name}-bare`),
    wrap: () => [],
  });
  const caged = await runTrial({
    ...trial,
    path: join(root, client.name),
    wrap: (place, modelPort) => [
      ...[FARADAY, "run", "--policy", pinnedPolicy(client, policy, place, modelPort)],
      ...["--audit", place.auditPath],
      ...[...values.flag, "--"],
    ],
  });
  const rows = rowsOf(bare, caged);
  const missed = rows.filter(({ ok }) => !ok);
  console.log(`${client.packageName} ${client.version} under ${policy}`);
  console.log(renderTable(rows));
  if (values.verbose || missed.length > 0) {
    describe("without Faraday", bare);
    describe("under Faraday", caged);
  }
  return missed;
}

function policyFor(client: Client): string {
  const policy = values.policy ?? client.profile;
  // The client is started in its own project.
  return policy.startsWith("builtin:") ? policy : resolve(policy);
}

/** The policy with the network pinned, so that the model is the only one to be reached. */
function pinnedPolicy(
  { route }: Client,
  policy: string,
  place: TrialPlace,
  modelPort: number,
): string {
  const path = join(place.path, "policy.toml");
  const head = `extends = ["${policy}"]
[network]
allowed_hosts = ["model.invalid"]
kernel_pin = true
`;
  const way =
    route === null
      ? `allowed_local_ports = [${modelPort}]\n`
      : `[network.routes.model]
upstream = "http://127.0.0.1:${modelPort}"
credential_key = "model"
inject_header = "${route.header}"
inject_format = "{}"
env = { ${route.urlVariable} = "{url}", ${route.keyVariable} = "{token}" }

[credentials.model]
env = "${route.keyVariable}"
`;
  writeFileSync(path, head + way);
  return path;
}

/** Everything that a reader needs to find out why a trial went wrong. */
function describe(title: string, outcome: TrialOutcome): void {
  console.error(`--- ${title}: exit ${outcome.exit}, requests ${outcome.requests.join(", ")}`);
  for (const { errand, answer } of outcome.outcomes) {
    console.error(`  ${errand.name}: ${JSON.stringify(answer.slice(0, 400))}`);
  }
  console.error(outcome.stdout.slice(-2_000));
  console.error(outcome.stderr.slice(-4_000));
}
