import type { Client } from "./client.ts";
import { type Errand, errandsFor } from "./errands.ts";
import { ModelServer } from "./model-server.ts";
import { TrialPlace } from "./trial-place.ts";

/** A client that says nothing for so long hangs. */
const TRIAL_TIMEOUT_MS = 180_000;

export interface TrialOptions {
  readonly client: Client;
  readonly program: string;
  readonly path: string;
  /** The words before the client's own; none for the run without Faraday. */
  readonly wrap: (place: TrialPlace, modelPort: number) => readonly string[];
}

export interface ErrandOutcome {
  readonly errand: Errand;
  readonly cameAbout: boolean;
  /** Whether the audit log shows the denial that the errand names. */
  readonly recorded: boolean;
  readonly answer: string;
}

export interface TrialOutcome {
  readonly outcomes: readonly ErrandOutcome[];
  readonly exit: number | null;
  /** Whether the client went through all errands to the model's last words. */
  readonly ended: boolean;
  readonly requests: readonly string[];
  /** The keys that the model was shown. */
  readonly keys: readonly (string | null)[];
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the client once, from its task to the model's last words, and looks at what came of it. */
export async function runTrial(options: TrialOptions): Promise<TrialOutcome> {
  const { client } = options;
  const place = new TrialPlace(options.path);
  const strangerPaths: string[] = [];
  using stranger = new StrangerServer((path) => strangerPaths.push(path));
  const errands = errandsFor(place, stranger.url, client.route).flatMap((errand) => {
    const call = client.toolFor(errand.wish);
    return call === null ? [] : [{ errand, call }];
  });
  using model = new ModelServer(
    client,
    errands.map(({ call }) => call),
  );
  const start = client.start(options.program, model.url, place);
  place.putSettings(start.files);
  const words = [...options.wrap(place, model.port), ...start.command];
  const { stdout, stderr, exit } = await runClient(words, place, start.env);
  const denied = deniedPrograms(place);
  const outcomes = errands.map(({ errand }, index): ErrandOutcome => {
    const answer = model.answers[index] ?? "";
    return {
      errand,
      answer,
      cameAbout: errand.cameAbout({ answer, place, strangerPaths }),
      recorded: errand.deniedProgram === undefined || denied.has(errand.deniedProgram),
    };
  });
  const { ended, requests } = model;
  return { outcomes, exit, ended, requests, keys: [...model.keys], stdout, stderr };
}

/** A host on loopback that no profile allows. */
class StrangerServer {
  readonly #server: Bun.Server<undefined>;

  constructor(onPath: (path: string) => void) {
    this.#server = Bun.serve({
      hostname: "127.0.0.2",
      port: 0,
      fetch: (request) => {
        onPath(new URL(request.url).pathname);
        return new Response("hello, stranger\n");
      },
    });
  }

  get url(): string {
    return `http://127.0.0.2:${this.#server.port}`;
  }

  [Symbol.dispose](): void {
    this.#server.stop(true);
  }
}

async function runClient(
  words: readonly string[],
  place: TrialPlace,
  env: Readonly<Record<string, string>>,
): Promise<Pick<TrialOutcome, "exit" | "stdout" | "stderr">> {
  const child = Bun.spawn([...words], {
    cwd: place.project,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: place.home,
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
      SHELL: "/bin/bash",
      // The model is reached directly, past any proxy.
      NO_PROXY: "127.0.0.1",
      no_proxy: "127.0.0.1",
      ...env,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), TRIAL_TIMEOUT_MS);
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  clearTimeout(timer);
  return { exit: child.exitCode, stdout, stderr };
}

/** The names of the programs whose start the audit log says was denied. */
function deniedPrograms(place: TrialPlace): ReadonlySet<string> {
  const names = new Set<string>();
  for (const line of place.read(place.auditPath).split("\n")) {
    if (line === "") continue;
    const record: { event: string; action?: string; exe?: string } = JSON.parse(line);
    if (record.event === "exec" && record.action === "deny") {
      names.add(record.exe?.split("/").at(-1) ?? "");
    }
  }
  return names;
}
