import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync } from "node:fs";
import { recordsOf, Workplace } from "./faraday-run.ts";
import { allowBut, compile, PYTHON } from "./test-programs.ts";

const place = new Workplace();
const tool = place.at("tool");

beforeAll(async () => {
  chmodSync(place.path, 0o755);
  await compile(place, "tool", `#include <stdio.h>\nint main(void) { puts("tool ran"); }`);
  mkdirSync(place.at("inside"));
  mkdirSync(place.at("outside"));
});
afterAll(() => place[Symbol.dispose]());

/** Each key in a deny rule: one command that it stops, and one beside it that it does not. */
describe("each key is seen end to end", () => {
  const sh = (text: string): string[] => ["sh", "-c", text];
  test.each([
    { key: "exe", rule: `exe = "${tool}"`, stops: sh("./tool"), passes: sh("/bin/echo tool ran") },
    {
      key: "exe_basename",
      rule: 'exe_basename = "tool"',
      stops: sh("./tool"),
      passes: sh("ln -f tool tools; ./tools || /bin/echo tool ran"),
    },
    {
      key: "exe_glob",
      rule: `exe_glob = "${place.path}/to*"`,
      stops: sh("./tool"),
      passes: sh("/bin/echo tool ran"),
    },
    {
      key: "argv_regex",
      rule: `exe = "${tool}"\nargv_regex = "^./tool a+ b$"`,
      stops: sh("./tool aaa b"),
      passes: sh("./tool aaa b c"),
    },
    {
      key: "argv_contains",
      rule: `exe = "${tool}"\nargv_contains = "needle"`,
      stops: sh("./tool x hay-needle-hay"),
      passes: sh("./tool nee dle"),
    },
    {
      key: "argv_host_in",
      rule: `exe = "${tool}"\nargv_host_in = "*.example.com"`,
      stops: sh("./tool https://api.example.com/x"),
      passes: sh("./tool https://example.org/"),
    },
    {
      key: "cwd_glob",
      rule: `exe = "${tool}"\ncwd_glob = "${place.path}/inside/**"`,
      stops: sh("cd inside; ../tool"),
      passes: sh("cd outside; ../tool"),
    },
    {
      key: "uid",
      rule: `exe = "${tool}"\nuid = ${process.getuid?.() ?? 0}`,
      stops: sh("./tool"),
      passes: null,
    },
    {
      key: "parent_exe",
      rule: `exe = "${tool}"\nparent_exe = "/usr/bin/env"`,
      stops: null,
      passes: sh("./tool"),
    },
    {
      key: "parent_argv",
      rule: `exe = "${tool}"\nparent_argv = "^sh -c .*badparent"`,
      stops: sh("./tool; exit $? # badparent"),
      passes: sh("./tool; exit $? # goodparent"),
    },
    {
      key: "argv_regex_not",
      rule: `exe = "${tool}"\nargv_regex_not = "^./tool (status|log)$"`,
      stops: sh("./tool push"),
      passes: sh("./tool status"),
    },
  ])("$key", async ({ rule, stops, passes }) => {
    const policy = allowBut(rule);
    if (stops !== null) {
      const bad = await place.faraday(stops, { policy });
      expect([bad.exit, bad.stdout]).toEqual([126, ""]);
      expect(bad.records.filter(({ action }) => action === "deny")).toMatchObject([
        { rule_id: "r1" },
      ]);
      expect((await place.bare(stops)).stdout).toBe("tool ran\n");
    }
    if (passes === null) return;
    const good = await place.faraday(passes, { policy });
    expect([good.exit, good.stdout]).toEqual([0, "tool ran\n"]);
  });

  test("parent_exe is the program that made the process, seen at its exec", async () => {
    const start =
      "import os, sys\npid = os.spawnv(os.P_WAIT, sys.argv[1], ['tool'])\nsys.exit(pid)";
    const real = (await place.bare(["readlink", "-f", PYTHON])).stdout.trim();
    const policy = allowBut(`exe = "${tool}"\nparent_exe = "${real}"`);
    const bad = await place.faraday([PYTHON, "-c", start, tool], { policy });
    expect([bad.exit, bad.stdout]).toEqual([127, ""]);
    expect(recordsOf(bad.records, "tool")).toMatchObject([{ action: "deny", rule_id: "r1" }]);
    expect((await place.faraday(["sh", "-c", "./tool; true"], { policy })).stdout).toBe(
      "tool ran\n",
    );
  });

  test.if(process.getuid?.() === 0)(
    "uid is that of the caller, not of the supervisor",
    async () => {
      const drop = `import os, sys\nos.setuid(65534)\nos.execv(sys.argv[1], ["tool"])`;
      const policy = allowBut(`exe = "${tool}"\nuid = 65534`);
      const bad = await place.faraday([PYTHON, "-c", drop, tool], { policy });
      expect(bad.stdout).toBe("");
      expect(recordsOf(bad.records, "tool")).toMatchObject([{ action: "deny", uid: 65534 }]);
      expect((await place.faraday([tool], { policy })).stdout).toBe("tool ran\n");
      expect((await place.bare([PYTHON, "-c", drop, tool])).stdout).toBe("tool ran\n");
    },
  );
});
