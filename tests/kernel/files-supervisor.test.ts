/** The supervisor, its policy and its log are out of the agent's reach. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { ProbeCall } from "./file-probe.ts";
import { Playground } from "./sealed-run.ts";

const OWN = ["environ", "mem", "maps", "auxv"] as const;

describe("a sealed run", () => {
  test.each(OWN)("cannot read /proc/<supervisor>/%s, only its own", (name) => {
    using place = new Playground();
    const calls: ProbeCall[] = [
      ["open", `/proc/self/${name}`, 0],
      ["open", `/proc/{ppid}/${name}`, 0],
    ];
    expect(place.probe('allow_globs = ["$T"]\nallow_self_write = true', calls)).toEqual([
      "ok",
      "EACCES",
    ]);
  });

  test("cannot take the supervisor's descriptors, nor enter its root or directory", () => {
    using place = new Playground();
    const calls: ProbeCall[] = [
      ["open", "/proc/self/fd/0", 0],
      ["open", "/proc/{ppid}/fd/0", 0],
      ["open", "/proc/{ppid}/root/etc/passwd", 0],
      ["open", "/proc/{ppid}/cwd/x", 0],
    ];
    const answers = place.probe('read_globs = ["$T"]', calls);
    expect(answers).toEqual(["ok", "EACCES", "EACCES", "EACCES"]);
  });

  test("cannot signal it, only itself", () => {
    using place = new Playground();
    const calls: ProbeCall[] = [
      ["kill", "self"],
      ["kill", "{ppid}"],
      ["kill", "1"],
    ];
    expect(place.probe('read_globs = ["$T"]', calls)).toEqual(["ok", "EPERM", "EPERM"]);
  });

  test("cannot connect to abstract sockets of others, only to its own", () => {
    using place = new Playground();
    const name = `faraday-test-${process.pid}-${Date.now()}`;
    using server = Bun.listen({ unix: `\0${name}`, socket: { data() {} } });
    const calls: ProbeCall[] = [
      ["connect", `@${name}`],
      ["bind", `@${name}-own`],
      ["connect", `@${name}-own`],
    ];
    const answers = place.probe('read_globs = ["$T"]', calls);
    // Nobody listens on its own one. Of others that is said as well: X11 clients then try a path.
    expect(answers).toEqual(["ECONNREFUSED", "ok", "ECONNREFUSED"]);
    server.stop(true);
  });
});

describe("a policy that the agent could rewrite is refused", () => {
  test.each([
    { what: "the policy", table: 'allow_globs = ["$T"]', flags: [] },
    { what: "the policy", table: 'allow_globs = ["$T/policy/policy.toml"]', flags: [] },
    { what: "the audit log", table: 'write_globs = ["$T/out"]', flags: ["--audit", "out/a"] },
  ])("$what, by $table", ({ what, table, flags }) => {
    using place = new Playground();
    place.directory("out");
    const ran = place.run(["run", "-p", place.policy(table), ...flags, "--", "true"]);
    expect(ran.exit).toBe(126);
    expect(ran.stderr).toContain(`faraday: ${what}`);
    const told = `${table}\nallow_self_write = true`;
    expect(place.run(["run", "-p", place.policy(told), ...flags, "--", "true"]).exit).toBe(0);
  });

  test("a base counts, and so does a link to the policy in a writable place", () => {
    using place = new Playground();
    place.file("in/base.toml", '[meta]\ndefault_action = "allow"\n');
    const own = place.file(
      "own.toml",
      `extends = ["in/base.toml"]\n[filesystem]\nallow_globs = ["${place.path}/in"]\n`,
    );
    expect(place.run(["run", "-p", own, "--", "true"]).exit).toBe(126);
    place.policy('allow_globs = ["$T/in"]');
    Bun.spawnSync(["ln", "-s", "../policy/policy.toml", `${place.path}/in/link.toml`]);
    expect(place.run(["run", "-p", "in/link.toml", "--", "true"]).exit).toBe(126);
    expect(place.run(["run", "-p", "policy/policy.toml", "--", "true"]).exit).toBe(0);
  });

  test("where they are not granted, they cannot be written", () => {
    using place = new Playground();
    place.directory("in");
    const policy = place.policy('read_globs = ["$T"]\nallow_globs = ["$T/in"]');
    const before = readFileSync(policy, "utf8");
    const script = `echo x >> ${policy}; echo x >> audit; echo x > in/y && echo written`;
    const ran = place.run(["run", "-p", policy, "--audit", "audit", "--", "sh", "-c", script]);
    expect(ran.stdout).toBe("written\n");
    expect(readFileSync(policy, "utf8")).toBe(before);
    const log = readFileSync(`${place.path}/audit`, "utf8").trimEnd().split("\n");
    expect(log.every((line) => line.startsWith("{"))).toBe(true);
  });
});
