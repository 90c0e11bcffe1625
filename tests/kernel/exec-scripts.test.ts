import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, symlinkSync } from "node:fs";
import { EXEC_CALLER_SOURCE } from "./exec-caller-source.ts";
import { recordsOf, Workplace } from "./faraday-run.ts";
import { allowBut, compile, compileMarker, denyBut, exe, script } from "./test-programs.ts";

const place = new Workplace();
const marker = place.at("marker");
const denied = place.at("denied");
const caller = place.at("caller");
const policy = allowBut(exe(denied, place.at("denied-script")));

beforeAll(async () => {
  await compile(place, "caller", EXEC_CALLER_SOURCE, ["-pthread"]);
  await compileMarker(place, "denied", marker);
  script(place, "plain", "#!/bin/sh\necho plain ran $0 $*\n");
  script(place, "spaced", "#! \t /bin/sh \t -e \t\necho spaced ran $-\n");
  script(place, "nested", `#!${place.at("plain")} argument\n`);
  script(place, "relative", "#!./plain\n");
  script(place, "env", "#!/usr/bin/env sh\necho env ran\n");
  script(place, "env-split", "#!/usr/bin/env -S sh -e\necho env-split ran\n");
  script(place, "no-line", "echo no-line ran\n");
  script(place, "empty", "");
  script(place, "denied-script", `#!/bin/sh\necho x > ${marker}\n`);
  script(place, "to-denied", `#!${denied}\n`);
  script(place, "to-denied-nested", `#!${place.at("to-denied")}\n`);
  script(place, "to-denied-relative", "#!./denied with an argument\n");
  symlinkSync("denied", place.at("denied-link"));
  script(place, "to-denied-link", `#!${place.at("denied-link")}\n`);
  script(place, "env-denied", `#!/usr/bin/env ${denied}\n`);
  script(place, "missing-interpreter", "#!/nonexistent/interpreter\n");
  script(place, "directory-interpreter", "#!/tmp\n");
  script(place, "cut-off", `#!/${"x".repeat(300)}\n`);
  let inner = "plain";
  for (let depth = 1; depth <= 6; depth++) {
    script(place, `deep-${depth}`, `#!${place.at(inner)}\n`);
    inner = `deep-${depth}`;
  }
});
afterAll(() => place[Symbol.dispose]());

describe("scripts run as without Faraday", () => {
  test.each([
    "plain",
    "spaced",
    "nested",
    "relative",
    "env",
    "env-split",
    "no-line",
    "empty",
    "missing-interpreter",
    "directory-interpreter",
    "cut-off",
    "deep-1",
    "deep-4",
    "deep-5",
    "deep-6",
  ])("%s", async (name) => {
    for (const way of ["execve", "dirfd", "empty-path-open"]) {
      const bare = await place.bare([caller, way, place.at(name)]);
      const kept = await place.faraday([caller, way, place.at(name)], { policy });
      expect([name, way, kept.stdout, kept.exit]).toEqual([name, way, bare.stdout, bare.exit]);
      expect(kept.records.at(-1)?.counts?.mismatch).toBe(0);
    }
  });

  test("a shell starts a script without a `#!` line itself", async () => {
    const bare = await place.bare(["sh", "-c", "./no-line"]);
    const kept = await place.faraday(["sh", "-c", "./no-line"], { policy });
    expect([kept.stdout, kept.exit]).toEqual([bare.stdout, bare.exit]);
  });
});

describe("the interpreter must be allowed as well as the script", () => {
  test.each([
    "to-denied",
    "to-denied-nested",
    "to-denied-relative",
    "to-denied-link",
    "denied-script",
  ])("%s is denied before it starts", async (name) => {
    for (const way of ["execve", "dirfd", "empty-path-open", "thread"]) {
      const bad = await place.faraday([caller, way, place.at(name)], { policy });
      expect([name, way, bad.stdout]).toEqual([name, way, "EACCES\n"]);
      expect(bad.records.at(-1)?.counts?.mismatch).toBe(0);
    }
    expect(existsSync(marker)).toBe(false);
  });

  test("env that looks for a denied program does not get it", async () => {
    const bad = await place.faraday([place.at("env-denied")], { policy });
    expect(bad.exit).toBe(126);
    expect(existsSync(marker)).toBe(false);
  });

  test("under default deny a script needs both rules", async () => {
    const callerRule = exe(caller);
    const scriptRule = exe(place.at("plain"));
    const shell = (await place.bare(["readlink", "-f", "/bin/sh"])).stdout.trim();
    const shellRule = `${exe("/bin/sh", shell)}\nargv_regex = "^/bin/sh ${place.at("plain")}"`;
    const command = [caller, "execve", place.at("plain")];
    const one = await place.faraday(command, { policy: denyBut(callerRule, scriptRule) });
    expect(one.stdout).toBe("EACCES\n");
    const other = await place.faraday(command, { policy: denyBut(callerRule, shellRule) });
    expect(other.stdout).toBe("EACCES\n");
    const both = denyBut(callerRule, scriptRule, shellRule);
    const good = await place.faraday(command, { policy: both });
    expect(good.stdout).toStartWith("plain ran");
  });

  test("the record of a script names the script", async () => {
    const kept = await place.faraday([caller, "execve", "./plain"], { policy });
    expect(recordsOf(kept.records, "plain")).toMatchObject([
      { exe: place.at("plain"), argv: ["tool", "word"], action: "allow" },
    ]);
  });
});
