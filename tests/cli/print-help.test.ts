import { describe, expect, test } from "bun:test";
import {
  COMMANDS,
  type CommandName,
  FLAGS,
  longName,
  TOPICS,
  type TopicName,
} from "../../src/cli/flags.ts";
import { parseArgv } from "../../src/cli/parse-argv.ts";
import { helpText } from "../../src/cli/print-help.ts";

const commands = Object.keys(COMMANDS) as CommandName[];
const topics = Object.keys(TOPICS) as TopicName[];

describe.each(commands)("help on %s", (command) => {
  const { flags } = COMMANDS[command];

  test("-h has a line a flag", () => {
    const lines = helpText({ topic: command, form: "short" }).split("\n");
    for (const flag of flags) {
      const own = lines.filter((line) => line.includes(FLAGS[flag].summary));
      expect(own).toHaveLength(1);
      expect(own[0]).toContain(`--${longName(flag)}`);
    }
  });

  test("--help says more about each flag, and ends in an example that can be run", () => {
    const text = helpText({ topic: command, form: "full" });
    for (const flag of flags) expect(text).toContain(`--${longName(flag)}`);
    const example = /\nExample:\n {2}faraday (.*)\n$/.exec(text)?.[1] ?? "";
    const words = example.match(/'[^']*'|\S+/g) ?? [];
    expect(parseArgv(words).ok).toBe(true);
  });
});

test("the front page names every command and every topic", () => {
  const text = helpText({ topic: null, form: "full" });
  for (const name of [...commands, ...topics]) expect(text).toContain(`  ${name} `);
});

test.each(topics)("the page on %s ends in an example", (topic) => {
  expect(helpText({ topic, form: "full" })).toMatch(/\nExample: .*faraday .*\n$/);
});

test("no line of help is wider than a narrow terminal can show", () => {
  for (const topic of [null, ...commands, ...topics]) {
    for (const form of ["short", "full"] as const) {
      for (const line of helpText({ topic, form }).split("\n")) {
        expect(line.length).toBeLessThanOrEqual(100);
      }
    }
  }
});

test("no two flags of a command share a letter", () => {
  for (const command of commands) {
    const letters = COMMANDS[command].flags
      .map((flag) => FLAGS[flag].short)
      .filter((short) => short !== null);
    expect(new Set(letters).size).toBe(letters.length);
  }
});
