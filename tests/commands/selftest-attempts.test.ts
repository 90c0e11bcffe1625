import { expect, test } from "bun:test";
import { judgeAttempt } from "../../src/commands/selftest-attempts.ts";

const attack = { kind: "escape", refusals: ["EACCES"], controls: ["OK"] } as const;
const anyControl = { kind: "escape", refusals: ["EPERM"], controls: null } as const;
const work = { kind: "work", refusals: [], controls: ["OK"] } as const;

test.each([
  { of: attack, inside: "EACCES", outside: "OK", state: "held", because: "it works outside alone" },
  { of: attack, inside: "OK", outside: "OK", state: "not-held", because: "it works inside" },
  { of: attack, inside: "EIO", outside: "OK", state: "not-held", because: "EIO is no refusal" },
  {
    of: attack,
    inside: "EACCES",
    outside: "EACCES",
    state: "not-applicable",
    because: "the machine itself refuses it",
  },
  { of: attack, inside: undefined, outside: "OK", state: "not-held", because: "silence is bad" },
  {
    of: attack,
    inside: "n/a: no hard links here",
    outside: "OK",
    state: "not-applicable",
    because: "it cannot be tried",
  },
  { of: anyControl, inside: "EPERM", outside: "EFAULT", state: "held", because: "EFAULT got in" },
  {
    of: anyControl,
    inside: "EPERM",
    outside: "ENOSYS",
    state: "not-applicable",
    because: "the kernel has no such call",
  },
  { of: work, inside: "OK", outside: "OK", state: "works", because: "it works in both places" },
  { of: work, inside: "EACCES", outside: "OK", state: "broken", because: "work is refused" },
  { of: work, inside: undefined, outside: "OK", state: "broken", because: "silence is bad" },
  {
    of: work,
    inside: "EACCES",
    outside: "EROFS",
    state: "not-applicable",
    because: "it works nowhere",
  },
])("judgeAttempt() says $state: $because", ({ of, inside, outside, state }) => {
  expect(judgeAttempt(of, inside, outside).state).toBe(state as never);
});
