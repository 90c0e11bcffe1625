/**
 * The entry: nothing but the way to the code that is needed. Every import is deferred, because
 * what a stage does not use is what its start-up must not pay for.
 */
import type { Invocation, RunInvocation } from "./cli/invocation.ts";
import type { TerminalIo } from "./cli/terminal-io.ts";

/** The second stage of `run`: this binary again, started by the supervisor, not by users. */
const LAUNCHER_WORD = "__launcher";
/** What `selftest` runs inside the sandbox: this binary again, making one attempt. */
const ATTEMPT_WORD = "__attempt";

if (process.argv[2] === LAUNCHER_WORD) {
  const { runLauncher } = await import("./launch/launcher.ts");
  await runLauncher();
} else if (process.argv[2] === ATTEMPT_WORD) {
  const { runAttempt } = await import("./commands/selftest-stage.ts");
  process.exit(runAttempt(process.argv.slice(3)));
} else {
  process.exit(await main());
}

async function main(): Promise<number> {
  const { parseArgv } = await import("./cli/parse-argv.ts");
  const words = await readWords();
  if (words === null) {
    console.error("faraday: cannot read /proc/self/cmdline, and an argument is not valid UTF-8");
    return 125;
  }
  const parsed = parseArgv(words);
  if (!parsed.ok) {
    const { printUsageError } = await import("./cli/print-usage-error.ts");
    const { processIo } = await import("./cli/terminal-io.ts");
    return printUsageError(parsed.error, processIo());
  }
  const invocation = parsed.value;
  if (invocation.command === "run") {
    // The launcher boots while everything else is still being read.
    const { spawnLauncher } = await import("./launch/spawn-launcher.ts");
    const launcher = spawnLauncher(Bun.main, invocation.keepFds);
    const worker = new Worker(new URL("./supervisor-worker.ts", import.meta.url));
    const { runRun } = await import("./commands/run.ts");
    return runRun(invocation, launcher, worker);
  }
  const { processIo, OutputError } = await import("./cli/terminal-io.ts");
  const io = processIo();
  try {
    return await report(invocation, io);
  } catch (error) {
    if (!(error instanceof OutputError)) throw error;
    // A full disk behind `> report.json` must not pass for a report that was written.
    io.stderr.write(`faraday: ${error.message}\n`);
    return 1;
  }
}

/**
 * U+FFFD is what Bun leaves of bytes that are not UTF-8. Only then is the kernel asked for them:
 * node:fs, which that takes, costs half as much as the whole start-up.
 */
async function readWords(): Promise<readonly string[] | null> {
  const words = process.argv.slice(2);
  if (!words.some((word) => word.includes("\ufffd"))) return words;
  const { ownWords } = await import("./launch/own-words.ts");
  return ownWords();
}

async function report(
  invocation: Exclude<Invocation, RunInvocation>,
  io: TerminalIo,
): Promise<number> {
  switch (invocation.command) {
    case "check": {
      const { runCheck } = await import("./commands/check.ts");
      return runCheck(invocation, io);
    }
    case "explain": {
      const { runExplain } = await import("./commands/explain.ts");
      return runExplain(invocation, io);
    }
    case "log": {
      const { runLog } = await import("./commands/log.ts");
      return runLog(invocation, io);
    }
    case "profiles": {
      const { runProfiles } = await import("./commands/profiles.ts");
      return runProfiles(invocation, io);
    }
    case "init": {
      const { runInit } = await import("./commands/init.ts");
      return runInit(invocation, io);
    }
    case "selftest": {
      const { runSelftest } = await import("./commands/selftest.ts");
      return runSelftest(invocation, io);
    }
    case "completions": {
      const { completionScript } = await import("./cli/completion-script.ts");
      io.stdout.write(completionScript(invocation.shell));
      return 0;
    }
    case "man": {
      const { manPage } = await import("./cli/man-page.ts");
      io.stdout.write(manPage());
      return 0;
    }
    case "schema": {
      const { policySchema } = await import("./policy/policy-schema.ts");
      io.stdout.write(`${JSON.stringify(policySchema(), null, 2)}\n`);
      return 0;
    }
    case "doctor": {
      const { runDoctor } = await import("./commands/doctor.ts");
      return runDoctor(invocation, io);
    }
    case "help": {
      const { printHelp } = await import("./cli/print-help.ts");
      return printHelp(invocation, io);
    }
    case "version": {
      const { VERSION, COMMIT } = await import("./cli/version.ts");
      io.stdout.write(`faraday ${VERSION} (${COMMIT})\n`);
      return 0;
    }
    default:
      return invocation satisfies never;
  }
}
