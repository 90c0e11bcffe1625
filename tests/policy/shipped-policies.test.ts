/** The policies that ship carry their own examples; here it is seen that they hold. */
import { describe, expect, test } from "bun:test";
import { PROFILE_NAMES } from "../../src/cli/profile-names.ts";
import { BUILTIN_POLICIES } from "../../src/launch/builtin-policies.ts";
import { parsed } from "./policy-fixture.ts";

const BASES = Object.fromEntries(
  Object.entries(BUILTIN_POLICIES).map(([name, text]) => [`builtin:${name}`, text]),
);
const textOf = (name: string): string => BUILTIN_POLICIES[name] ?? "";

test.each([
  { name: "programs", testsMin: 150 },
  { name: "strict", testsMin: 100 },
  { name: "observe", testsMin: 2 },
])("policies/$name.toml loads without environment, errors or warnings", ({ name, testsMin }) => {
  const { policy, warnings } = parsed(textOf(name), { home: undefined, bases: BASES });
  expect(warnings).toEqual([]);
  expect(policy.tests.length).toBeGreaterThanOrEqual(testsMin);
});

describe.each(Object.keys(BUILTIN_POLICIES))("policies/%s.toml", (name) => {
  test("loads on top of its bases without a warning, and its examples hold", () => {
    const { policy, warnings } = parsed(textOf(name), { bases: BASES });
    expect(warnings).toEqual([]);
    expect(policy.tests.length).toBeGreaterThan(0);
  });

  test("tests every rule of its own", () => {
    const { policy } = parsed(textOf(name), { bases: BASES });
    const tested = new Set(policy.tests.map(({ rule }) => rule));
    const own = policy.rules.filter(({ span }) => span.file === "p.toml");
    expect(own.filter(({ id }) => !tested.has(id)).map(({ id }) => id)).toEqual([]);
  });

  test("is a profile, or a part of one", () => {
    const isProfile = PROFILE_NAMES.some((each) => each === name);
    const isPart = Object.values(BUILTIN_POLICIES).some((text) =>
      text.includes(`"builtin:${name}"`),
    );
    expect(isProfile || isPart).toBe(true);
  });
});

test("every profile is embedded", () => {
  for (const name of PROFILE_NAMES) expect(Object.keys(BUILTIN_POLICIES)).toContain(name);
});

/** What nobody has a reason to let an agent read. */
test.each(["default", "offline", "claude-code", "codex", "gemini", "ci", "read-only"])(
  "builtin:%s hides keys and tokens",
  (name) => {
    const { policy } = parsed(textOf(name), { bases: BASES });
    const holes = policy.filesystem?.deny.map(({ glob }) => glob) ?? [];
    for (const path of [".ssh", ".aws", ".config/gh", ".netrc", ".gnupg"]) {
      expect(holes).toContain(`/home/ann/${path}`);
    }
  },
);

test.each([
  { name: "claude-code", own: ".claude/**" },
  { name: "codex", own: ".codex/**" },
  { name: "gemini", own: ".gemini/**" },
])("builtin:$name lets its agent keep ~/$own", ({ name, own }) => {
  const { policy } = parsed(textOf(name), { bases: BASES });
  expect(policy.filesystem?.allow.map(({ glob }) => glob)).toContain(`/home/ann/${own}`);
});
