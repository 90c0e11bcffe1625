/** A verdict that does not come in time is a denial, even if the thread that judges is busy. */
import { afterAll, expect, test } from "bun:test";
import { recordsOf, Workplace } from "./faraday-run.ts";
import { PYTHON } from "./test-programs.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

/** Too many states for an automaton: seconds for a megabyte, which no deadline interrupts. */
const POLICY = `
[meta]
default_action = "allow"
on_supervisor_timeout_ms = 400
[[rule]]
id = "slow"
action = "deny"
exe_basename = "true"
argv_regex = '[ab]*a[ab]{300}[c-d]'`;

const startTrue = (kilobytes: number): string[] => [
  PYTHON,
  "-c",
  `import random, subprocess
random.seed(1)
words = ["".join(random.choices("ab", k=100_000)) for _ in range(${kilobytes} // 100)]
try: print("ran", subprocess.run(["/bin/true", *words]).returncode, flush=True)
except PermissionError: print("denied", flush=True)`,
];

test("a verdict that takes too long is a denial, with its record", async () => {
  const { stdout, stderr, records } = await place.faraday(startTrue(1_200), { policy: POLICY });
  expect(stderr).toStartWith("faraday: a verdict took too long, so the answer was deny\n");
  // The run may be ended before the command could say what it saw.
  expect(["denied\n", ""]).toContain(stdout);
  expect(records.some(({ rule_id: rule }) => rule === "builtin:timeout")).toBe(true);
  expect(recordsOf(records, "true").filter(({ action }) => action === "allow")).toEqual([]);
});

test("one that comes in time is not", async () => {
  const { stdout, exit } = await place.faraday(startTrue(0), { policy: POLICY });
  expect({ stdout, exit }).toEqual({ stdout: "ran 0\n", exit: 0 });
});
