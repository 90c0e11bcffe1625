/** Runs commands under a policy in a temporary directory, and the file probe among them. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ProbeCall } from "./file-probe.ts";

const ROOT = join(import.meta.dir, "../..");
const BINARY = join(ROOT, "dist/faraday");
const TIMEOUT_MS = 60_000;

export interface Ran {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built binary, or the sources while working on them: FARADAY_FROM_SOURCE=1. */
export function faradayWords(): string[] {
  const fromSource = process.env.FARADAY_FROM_SOURCE === "1" || !existsSync(BINARY);
  return fromSource ? [process.execPath, join(ROOT, "src/main.ts")] : [BINARY];
}

/** A directory of a test's own, gone when it is disposed of. */
export class Playground implements Disposable {
  readonly path: string;

  constructor({ under }: { readonly under: string } = { under: tmpdir() }) {
    this.path = realpathSync(mkdtempSync(join(under, "faraday-files-")));
  }

  file(name: string, text = "content\n"): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  directory(name: string): string {
    const path = join(this.path, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** `$T` in the table is this directory. */
  policy(table: string): string {
    const text = `[meta]\ndefault_action = "allow"\n\n[filesystem]\n${table}\n`;
    return this.file("policy/policy.toml", text.replaceAll("$T", this.path));
  }

  run(words: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}): Ran {
    const ran = Bun.spawnSync([...faradayWords(), ...words], {
      cwd: options.cwd ?? this.path,
      env: { ...process.env, ...options.env },
      stdin: "ignore",
      timeout: TIMEOUT_MS,
    });
    return { exit: ran.exitCode, stdout: ran.stdout.toString(), stderr: ran.stderr.toString() };
  }

  /** What the kernel answers to these calls under the table. */
  probe(table: string, calls: readonly ProbeCall[], flags: readonly string[] = []): string[] {
    // The probe needs Bun, its own source, and what Bun reads when it starts.
    const reads = [dirname(process.execPath), join(ROOT, "tests/kernel"), ROOT_FILES].flat();
    const ran = this.run([
      "run",
      "--policy",
      this.policy(table),
      ...reads.flatMap((path) => ["--read", path]),
      ...flags,
      "--",
      process.execPath,
      join(ROOT, "tests/kernel/file-probe.ts"),
      JSON.stringify(calls).replaceAll("$T", this.path),
    ]);
    if (ran.exit !== 0) throw new Error(`the probe failed (${ran.exit}): ${ran.stderr}`);
    return JSON.parse(ran.stdout) as string[];
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

const ROOT_FILES = ["package.json", "tsconfig.json"].map((name) => join(ROOT, name));
