import { expect, test } from "bun:test";
import { layerViolations } from "../../scripts/check-layers.ts";
import { sourceFiles } from "../../scripts/source-files.ts";

test("check-layers finds nothing in the repository", () => {
  expect(layerViolations(sourceFiles())).toEqual([]);
});

test.each([
  { path: "src/policy/a.ts", text: 'import { b } from "../plan/b.ts";', because: "policy → plan" },
  { path: "src/policy/a.ts", text: 'import { b } from "node:fs";', because: "pure → node:" },
  { path: "src/policy/a.ts", text: 'import type { B } from "bun";', because: "pure → bun" },
  { path: "src/policy/a.ts", text: "const x = Bun.file(y);", because: "pure → Bun" },
  { path: "src/plan/a.ts", text: "const x = process.env;", because: "pure → process" },
  { path: "src/plan/a.ts", text: "const x = Buffer.alloc(1);", because: "pure → Buffer" },
  { path: "src/plan/a.ts", text: "const now = Date.now();", because: "pure → clock" },
  { path: "src/plan/a.ts", text: `const x = \`a $\{process.pid} b\`;`, because: "in a template" },
  { path: "src/plan/a.ts", text: 'import { c } from "../../ffi/calls/c.ts";', because: "→ calls" },
  { path: "ffi/calls/notify.ts", text: 'import { ptr } from "bun:ffi";', because: "bun:ffi" },
  { path: "ffi/abi/a.ts", text: 'import { c } from "../calls/c.ts";', because: "abi → calls" },
  { path: "src/cli/a.ts", text: 'import { p } from "../policy/model.ts";', because: "cli → model" },
  { path: "src/cli/a.ts", text: 'await import("../launch/b.ts");', because: "a deferred import" },
  { path: "src/cli/a.ts", text: 'export * from "../launch/b.ts";', because: "a re-export" },
  { path: "src/cli/a.ts", text: 'import "../launch/b.ts";', because: "a bare import" },
  {
    path: "src/cli/a.ts",
    text: 'import {\n  a,\n  type B,\n} from "../launch/b.ts";',
    because: "over several lines",
  },
  { path: "src/commands/a.ts", text: 'import { b } from "./b.ts";', because: "command → command" },
  { path: "src/main.ts", text: 'import { b } from "./supervise/b.ts";', because: "main" },
  { path: "src/supervisor-worker.ts", text: 'import "./cli/b.ts";', because: "the worker" },
  { path: "src/audit/a.ts", text: 'import { p } from "../policy/model.ts";', because: "a value" },
  { path: "src/elsewhere/a.ts", text: "", because: "no layer" },
])("check-layers catches $path: $because", ({ path, text }) => {
  expect(layerViolations([{ path, text }])).toHaveLength(1);
});

test.each([
  { path: "src/plan/a.ts", text: 'import { b } from "../policy/b.ts";' },
  { path: "src/policy/a.ts", text: 'import { RE2JS } from "re2js";' },
  { path: "src/policy/a.ts", text: "// Bun.file and process.env are not for us." },
  { path: "src/policy/a.ts", text: 'const x = "process.env"; const y = z.process.id;' },
  { path: "ffi/calls/libc.ts", text: 'import { ptr } from "bun:ffi";' },
  { path: "src/main.ts", text: 'await import("./commands/run.ts");' },
  { path: "src/audit/a.ts", text: 'import type { Policy } from "../policy/model.ts";' },
  { path: "src/supervisor-worker.ts", text: 'import { a } from "./supervise/a.ts";' },
  { path: "src/cli/a.ts", text: '// like import("../launch/b.ts")' },
  { path: "tests/policy/a.test.ts", text: 'import { b } from "../../src/launch/b.ts";' },
])("check-layers lets $path: $text pass", ({ path, text }) => {
  expect(layerViolations([{ path, text }])).toEqual([]);
});
