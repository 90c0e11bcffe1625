// biome-ignore-all lint/suspicious/noTemplateCurlyInString: grants have variables of their own
/** `faraday run` with grants: merged, told of, recorded, refused. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Playground } from "./sealed-run.ts";

const sh = (script: string): string[] => ["--", "sh", "-c", script];

describe("grants of the command line", () => {
  test("are added to those of the policy", () => {
    using place = new Playground();
    place.file("a/file");
    place.file("b/file");
    place.file("c/file");
    const script = "cat a/file && cat b/file && ! cat c/file";
    const policy = place.policy('read_globs = ["$T/a/**"]');
    expect(place.run(["run", "-p", policy, "-r", "b/**", ...sh(script)]).exit).toBe(0);
    expect(place.run(["run", "-p", policy, ...sh(script)]).exit).toBe(1);
  });

  test("seal by themselves; without any, nothing is sealed", () => {
    using place = new Playground();
    place.file("file");
    const script = "echo x > file";
    expect(place.run(["run", "--read", ".", ...sh(script)]).exit).not.toBe(0);
    expect(place.run(["run", "--allow", ".", ...sh(script)]).exit).toBe(0);
    expect(place.run(["run", ...sh(script)]).exit).toBe(0);
  });

  test("expand ~ and ${NAME} where the shell did not", () => {
    using place = new Playground();
    place.file("home/file");
    place.file("var/file");
    const env = { HOME: join(place.path, "home"), PLACE: join(place.path, "var") };
    const words = ["run", "-r", "~", "-r", "${PLACE}/**", ...sh("cat home/file var/file")];
    expect(place.run(words, { env }).stdout).toBe("content\ncontent\n");
  });

  test.each([
    { glob: "a/../b", code: "bad-glob" },
    { glob: "${NO_SUCH_NAME}/x", code: "undefined-variable" },
  ])("a mistake starts nothing: '$glob'", ({ glob, code }) => {
    using place = new Playground();
    const ran = place.run(["run", "--read", glob, "--", "touch", join(place.path, "ran")]);
    expect(ran.exit).toBe(125);
    expect(ran.stderr).toContain(`error[${code}]`);
    expect(existsSync(join(place.path, "ran"))).toBe(false);
  });
});

describe("what is told", () => {
  test.each([
    { table: 'read_globs = ["$T/a/*.py"]', said: "grants everything below" },
    { table: 'read_globs = ["$T/none/**"]', said: "does not exist, so it grants nothing" },
    { table: 'read_globs = ["$T/link"]', said: "is a link, so" },
    { table: 'read_globs = ["$T/a"]', said: null },
  ])("$table: $said", ({ table, said }) => {
    using place = new Playground();
    place.directory("a");
    Bun.spawnSync(["ln", "-s", "a", join(place.path, "link")]);
    const ran = place.run(["run", "-p", place.policy(table), "--", "true"]);
    expect(ran.exit).toBe(0);
    if (said === null) expect(ran.stderr).toBe("");
    else expect(ran.stderr).toMatch(new RegExp(`^faraday: read: .*${said}`));
  });

  test("a link grants what it points to", () => {
    using place = new Playground();
    place.file("a/file");
    place.file("b/file");
    Bun.spawnSync(["ln", "-s", "a", join(place.path, "link")]);
    const policy = place.policy('read_globs = ["$T/link"]');
    const ran = place.run(["run", "-p", policy, ...sh("cat link/file a/file; cat b/file")]);
    expect(ran.stdout).toBe("content\ncontent\n");
  });

  test("the state of the layer is in the first record", () => {
    using place = new Playground();
    const policy = place.policy('read_globs = ["$T"]');
    place.run(["run", "-p", policy, "--audit", "a.jsonl", "--", "true"]);
    const [first = ""] = readFileSync(join(place.path, "a.jsonl"), "utf8").split("\n");
    expect(JSON.parse(first).layers.files).toMatchObject({ state: "enforced", missing: [] });
    place.run(["run", "-p", "builtin:observe", "--audit", "b.jsonl", "--", "true"]);
    const [other = ""] = readFileSync(join(place.path, "b.jsonl"), "utf8").split("\n");
    expect(JSON.parse(other).layers.files.state).toBe("off");
  });
});

describe("create_missing", () => {
  test("makes directories before the seal, and only where a directory is meant", () => {
    using place = new Playground();
    const table = 'allow_globs = ["$T/new/deep/**", "$T/maybe"]\n';
    const script = "echo x > new/deep/file";
    expect(place.run(["run", "-p", place.policy(table), ...sh(script)]).exit).not.toBe(0);
    const made = place.policy(`${table}create_missing = true`);
    expect(place.run(["run", "-p", made, ...sh(script)]).exit).toBe(0);
    expect(existsSync(join(place.path, "maybe"))).toBe(false);
  });
});

describe("programs", () => {
  test("a command outside of the grants is refused with the reason", () => {
    using place = new Playground();
    place.file("tool", "#!/bin/sh\necho ran\n");
    Bun.spawnSync(["chmod", "+x", join(place.path, "tool")]);
    const refused = place.run(["run", "-r", "policy", "--", "./tool"]);
    expect(refused.exit).toBe(126);
    expect(refused.stderr).toContain("file grants do not cover the program");
    expect(place.run(["run", "-r", ".", "--", "./tool"]).stdout).toBe("ran\n");
  });

  test("noexec: what is written is not started, exec_globs aside", () => {
    using place = new Playground();
    place.directory("in/bin");
    const script = "cp /bin/true in/t; cp /bin/true in/bin/t; ! in/t && in/bin/t && echo held";
    const table = 'read_globs = ["/"]\nallow_globs = ["$T/in"]\nnoexec = true\n';
    const policy = place.policy(`${table}exec_globs = ["$T/in/bin"]`);
    expect(place.run(["run", "-p", policy, ...sh(script)]).stdout).toBe("held\n");
    const plain = place.policy(table.replace("noexec = true", ""));
    expect(place.run(["run", "-p", plain, ...sh("cp /bin/true in/t; in/t")]).exit).toBe(0);
  });

  test("a rule that allows by name does not take a program that the agent put there", () => {
    using place = new Playground();
    place.directory("in");
    const policy = place.file(
      "rules.toml",
      `[meta]\ndefault_action = "deny"\n[filesystem]\nallow_globs = ["${place.path}/in"]\n` +
        '[[rule]]\nid = "r"\naction = "allow"\nexe_basename = ["sh", "dash", "cp", "true"]\n',
    );
    const planted = place.run(["run", "-p", policy, ...sh("cp /bin/true in/true; in/true")]);
    expect(planted.exit).toBe(126);
    expect(place.run(["run", "-p", policy, ...sh("cp /bin/true in/true; true")]).exit).toBe(0);
  });
});
