import { mkdirSync, symlinkSync } from "node:fs";
import { FARADAY, runCommand, type Workplace } from "../kernel/faraday-run.ts";

/** A command of a `console` block, and what is printed below it. */
export interface Exchange {
  readonly command: string;
  readonly output: string;
}

/** A line that starts with `$ ` is a command, one that does not is what it printed. */
export function exchangesOf(block: string): readonly Exchange[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      return { command: part.slice(0, end), output: part.slice(end + 1) };
    });
}

const MARK = "@@ end of a command @@";

/** Runs the commands of a block in one shell, so that `$?` and variables carry over. */
export async function replay(
  place: Workplace,
  exchanges: readonly Exchange[],
): Promise<readonly Exchange[]> {
  const lines = exchanges.map(({ command }) => {
    // Following a log that has ended would never end.
    const ending = command.replace(/\btail -f\b/, "tail -n +1");
    return `${ending}\nstatus=$?; echo '${MARK}'; (exit $status)`;
  });
  const bin = place.at(".bin");
  mkdirSync(bin, { recursive: true });
  try {
    symlinkSync(FARADAY, `${bin}/faraday`);
  } catch {
    // An earlier block has made it.
  }
  const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: place.path, LANG: "C.UTF-8" };
  const script = `exec 2>&1\n${lines.join("\n")}\n`;
  const { stdout } = await runCommand(["bash", "-c", script], { cwd: place.path, env });
  const outputs = stdout.split(`${MARK}\n`);
  return exchanges.map(({ command }, index) => ({ command, output: outputs[index] ?? "" }));
}
