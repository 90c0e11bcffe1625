import { expect, test } from "bun:test";
import type { FilesystemPolicy } from "../../src/policy/model.ts";
import { placeGrants } from "../../src/policy/read-filesystem.ts";

const grantOf = (glob: string) => ({ glob, span: null });

function placed(globs: readonly string[], home: string | undefined, env: Record<string, string>) {
  const policy: FilesystemPolicy = {
    read: [],
    write: [],
    allow: [],
    exec: [],
    deny: globs.map(grantOf),
    denyWrite: [],
    requireEnforced: true,
    noBootstrapReads: false,
    createMissing: false,
    noexec: false,
    allowSelfWrite: false,
  };
  return placeGrants(policy, { env: (name) => env[name], home }).deny.map(({ glob }) => glob);
}

test.each([
  { glob: "~/.ssh", home: "/home/ann", is: ["/home/ann/.ssh"], because: "`~` is the home" },
  { glob: "~", home: "/home/ann/", is: ["/home/ann"], because: "its last slash says nothing" },
  { glob: "~/.ssh", home: "/h*", is: ["/h\\*/.ssh"], because: "what stands in it is literal" },
  { glob: "~/.ssh", home: "/a/../b", is: [], because: "`..` could lead anywhere" },
  { glob: "~/.ssh", home: "", is: [], because: "without a home there is nothing in it" },
  { glob: "~/.ssh", home: undefined, is: [], because: "nor where it is not known" },
  { glob: "/etc/shadow", home: undefined, is: ["/etc/shadow"], because: "other paths stay" },
  { glob: `\${A:-~/x}/y`, home: "/h", is: ["~/x/y"], because: "`~` counts at the start alone" },
  { glob: `\${D}/y`, home: "/h", is: ["/d/\\[1\\]/y"], because: "values are literal too" },
  { glob: `\${UP}/y`, home: "/h", is: [], because: "and checked" },
  { glob: `\${NONE}/y`, home: "/h", is: [], because: "what is not set grants nothing" },
])("$glob with home $home: $because", ({ glob, home, is }) => {
  expect(placed([glob], home, { D: "/d/[1]", UP: "/d/.." })).toEqual([...is]);
});
