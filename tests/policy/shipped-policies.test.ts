/** The policies that ship carry their own examples; here it is seen that they hold. */
import { expect, test } from "bun:test";
import defaultPolicy from "../../policies/default.toml" with { type: "text" };
import observePolicy from "../../policies/observe.toml" with { type: "text" };
import strictPolicy from "../../policies/strict.toml" with { type: "text" };
import { parsed } from "./policy-fixture.ts";

test.each([
  { name: "default", text: defaultPolicy, testsMin: 150 },
  { name: "strict", text: strictPolicy, testsMin: 100 },
  { name: "observe", text: observePolicy, testsMin: 2 },
])("policies/$name.toml loads without environment, errors or warnings", ({ text, testsMin }) => {
  const { policy, warnings } = parsed(text, { home: undefined });
  expect(warnings).toEqual([]);
  expect(policy.tests.length).toBeGreaterThanOrEqual(testsMin);
});

test.each([
  { name: "default", text: defaultPolicy },
  { name: "strict", text: strictPolicy },
])("every rule of policies/$name.toml that can be tested is", ({ text }) => {
  const { policy } = parsed(text);
  const tested = new Set(policy.tests.map(({ rule }) => rule));
  const untested = policy.rules.filter(({ id }) => !tested.has(id)).map(({ id }) => id);
  expect(untested).toEqual([]);
});
