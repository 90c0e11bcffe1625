import { existsSync, writeFileSync } from "node:fs";
import { painter, wantsColor } from "../cli/color.ts";
import type { InitInvocation } from "../cli/invocation.ts";
import type { TerminalIo } from "../cli/terminal-io.ts";
import { PROJECT_SIGNS, projectKinds, projectPolicy } from "../policy/project-policy.ts";

const NAME = "faraday.toml";

/** Writes a policy for the project in the working directory; returns the exit code. */
export function runInit({ profile, force, color }: InitInvocation, io: TerminalIo): number {
  const facts = { files: PROJECT_SIGNS.filter((name) => existsSync(name)) };
  const hint = painter({ color: wantsColor(color, io.stderr, io.env) })("hint", "hint");
  try {
    // Never through a link, and never over a file that came to be there since.
    writeFileSync(NAME, projectPolicy(profile, facts), { flag: force ? "w" : "wx" });
  } catch (error) {
    const code = (error as { code?: string }).code ?? String(error);
    if (code === "EEXIST") {
      io.stderr.write(`faraday: there is a ${NAME} already\n${hint}: --force replaces it\n`);
    } else {
      io.stderr.write(`faraday: ${NAME} cannot be written: ${code}\n`);
    }
    return 1;
  }
  const kinds = projectKinds(facts);
  const seen = kinds.length === 0 ? "no kind of project recognized" : `for ${kinds.join(", ")}`;
  io.stdout.write(`wrote ${NAME}: ${seen}, on top of ${profile}\n`);
  io.stdout.write(`next: faraday run --policy ${NAME} -- COMMAND\n`);
  return 0;
}
