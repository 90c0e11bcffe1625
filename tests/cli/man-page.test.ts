import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { COMMANDS, type CommandName, longName, TOPICS } from "../../src/cli/flags.ts";
import { manPage } from "../../src/cli/man-page.ts";

const page = manPage();

test("the manual page has every command, each with its flags, and every topic", () => {
  for (const name of Object.keys(COMMANDS) as CommandName[]) {
    const section = page.split("\n.SS ").find((part) => part.startsWith(`${name}\n`)) ?? "";
    for (const flag of COMMANDS[name].flags) {
      if (flag === "help" || flag === "version") continue;
      expect(section).toContain(`\\fB\\-\\-${longName(flag).replaceAll("-", "\\-")}\\fR`);
    }
  }
  for (const topic of Object.keys(TOPICS)) {
    expect(page).toContain(`.SH ${topic.replaceAll("-", " ").toUpperCase()}\n`);
  }
});

test("no line begins with a request that it does not mean", () => {
  const requests = Array.from(page.matchAll(/^[.'](\S*)/gm), ([, name]) => name);
  expect(new Set(requests)).toEqual(
    new Set(["TH", "SH", "SS", "B", "br", "PP", "TP", "nf", "fi", "RS", "RE"]),
  );
});

describe.if(existsSync("/usr/bin/groff"))("groff", () => {
  const format = (): { text: string; warnings: string } => {
    const words = ["groff", "-man", "-Tutf8", "-ww", "-P-cbou"];
    const ran = Bun.spawnSync(words, { stdin: Buffer.from(page), env: { PATH: "/usr/bin:/bin" } });
    return { text: ran.stdout.toString(), warnings: ran.stderr.toString() };
  };

  test("has nothing to complain of", () => {
    expect(format().warnings).toBe("");
  });

  test("shows flags and examples as they are typed", () => {
    const { text } = format();
    expect(text).toContain("--explain-denials");
    expect(text).toContain("faraday explain --profile strict -- git push origin main");
    expect(text).toContain("argv_regex = '^git (status|log|diff)( |$)'");
  });
});
