import { expect, test } from "bun:test";
import type { NetVerdict } from "../../src/policy/network-judge.ts";
import { VerdictMemory } from "../../src/proxy/verdict-memory.ts";

const verdict = (ruleId: string): NetVerdict => ({
  action: "deny",
  ruleId,
  reason: "",
  span: null,
  permit: null,
});

test("recall() judges each question once", () => {
  const memory = new VerdictMemory();
  const asked: string[] = [];
  const ask = (key: string): string =>
    memory.recall(key, () => {
      asked.push(key);
      return verdict(key);
    }).ruleId;
  expect(["a", "b", "a", "b"].map(ask)).toEqual(["a", "b", "a", "b"]);
  expect(asked).toEqual(["a", "b"]);
});

test("recall() answers rightly, however many questions there are", () => {
  const memory = new VerdictMemory();
  for (let n = 0; n < 5_000; n++) {
    const key = `host-${n % 1_000}`;
    expect(memory.recall(key, () => verdict(key)).ruleId).toBe(key);
  }
});
