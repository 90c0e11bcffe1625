/** The embedded default: work goes on in the project, secrets stay closed. */
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Playground, type Ran } from "./sealed-run.ts";

/** A home with secrets and a project. Temporary directories are granted, so it is not in one. */
function home(): Playground {
  const place = new Playground({ under: "/var/lib" });
  place.file(".ssh/id_ed25519", "secret\n");
  place.file(".aws/credentials", "secret\n");
  place.file(".bashrc", "# mine\n");
  place.file(".gitconfig", "[user]\nname = n\nemail = e\n");
  place.file("notes", "plain\n");
  place.file("project/main.py", "print('hello')\n");
  return place;
}

function run(place: Playground, script: string, cwd = "project"): Ran {
  return place.run(["run", "--", "sh", "-c", script], {
    cwd: join(place.path, cwd),
    env: { HOME: place.path },
  });
}

const CAN_PLACE = process.getuid?.() === 0;

describe.if(CAN_PLACE)("the embedded default", () => {
  test.each([
    { script: "cat ../.ssh/id_ed25519", exit: 1, because: "keys are secret" },
    { script: "cat ~/.aws/credentials", exit: 1, because: "so are tokens" },
    { script: "cp -r ../.ssh stolen", exit: 1, because: "also for copying" },
    { script: "ln ../.ssh/id_ed25519 key", exit: 1, because: "also by another name" },
    { script: "cat ../notes /etc/passwd", exit: 0, because: "the rest can be read" },
    { script: "ls .. / ~", exit: 0, because: "and listed" },
    { script: "echo x >> ~/.bashrc", exit: 2, because: "shells start with it" },
    { script: "echo x > ../new", exit: 2, because: "it is outside of the project" },
    { script: "echo x > new && mv new n && rm n", exit: 0, because: "the project is writable" },
    { script: 'mktemp -d "/tmp/faraday-sealed-XXXXXX" | xargs rmdir', exit: 0, because: "and tmp" },
  ])("$script: $exit, because $because", ({ script, exit }) => {
    using place = home();
    expect(run(place, `${script} 2>/dev/null >/dev/null`).exit).toBe(exit);
  });

  test.if(existsSync("/usr/bin/git"))("git keeps history", () => {
    using place = home();
    const script =
      "git init -q . && git add . && git commit -qm one && git checkout -qb b && " +
      "sed -i s/hello/bye/ main.py && git commit -qam two && git log --oneline | wc -l";
    expect(run(place, script)).toMatchObject({ exit: 0, stdout: "2\n", stderr: "" });
  });

  test.if(existsSync("/usr/bin/make"))("make builds", () => {
    using place = home();
    place.file("project/Makefile", "out: main.py\n\tcp main.py out\n");
    expect(run(place, "make >/dev/null && cat out").stdout).toBe("print('hello')\n");
  });

  test("started in the home directory it still guards what shells start with", () => {
    using place = home();
    const tries = "cat .bashrc; echo x >> .bashrc; echo x > .profile; rm .bashrc; mv .bashrc b";
    const works = "echo x > project/y && echo x > new && cat new && mv new n && rm n && echo ok";
    const ran = run(place, `${tries}; ${works}`, ".");
    expect(ran.stdout).toBe("# mine\nx\nok\n");
    expect(ran.stderr.match(/Permission denied|cannot create/g)?.length).toBeGreaterThanOrEqual(4);
    expect(readFileSync(join(place.path, ".bashrc"), "utf8")).toBe("# mine\n");
  });

  test("without HOME it guards the home directory of the user", () => {
    using place = home();
    const words = ["run", "--", "sh", "-c", "echo fine; cat /etc/shadow"];
    const ran = place.run(words, { cwd: join(place.path, "project"), env: { HOME: "" } });
    expect(ran).toMatchObject({ exit: 1, stdout: "fine\n" });
  });

  test("grants on the command line stand alone without a policy, and add to one", () => {
    using place = home();
    const at = { cwd: join(place.path, "project"), env: { HOME: place.path } };
    const write = ["--allow", place.path, "--", "sh", "-c", "cat ../notes; echo x > ../new"];
    expect(place.run(["run", ...write], at)).toMatchObject({ exit: 0, stdout: "plain\n" });
    const read = ["run", "--allow", ".", "--", "cat", "../notes"];
    expect(place.run(read, at).exit).toBe(1);
    expect(place.run(["run", "-p", "builtin:default", ...read.slice(1)], at).exit).toBe(0);
  });

  test("a home directory in a temporary directory does not close that", () => {
    using place = new Playground();
    const at = { cwd: place.directory("project"), env: { HOME: place.directory("home") } };
    const script = "f=$(mktemp /tmp/faraday-sealed-XXXXXX) && echo x > $f && cat $f && rm $f";
    const ran = place.run(["run", "--", "sh", "-c", script], at);
    expect(ran).toMatchObject({ exit: 0, stdout: "x\n", stderr: "" });
  });

  test("secrets that are there are guarded in a temporary directory too", () => {
    using place = new Playground();
    place.file("home/.ssh/id", "secret\n");
    const at = { cwd: place.directory("project"), env: { HOME: join(place.path, "home") } };
    const ran = place.run(["run", "--", "sh", "-c", "echo x > y && cat y ~/.ssh/id"], at);
    expect(ran).toMatchObject({ exit: 1, stdout: "x\n" });
  });

  test("a tool that never ran gets its directory, one that is not installed does not", () => {
    using place = home();
    const at = {
      cwd: join(place.path, "project"),
      env: { HOME: place.path, PATH: `${place.path}/bin:/usr/bin:/bin` },
    };
    const script = place.file("bin/codex", "#!/bin/sh\necho x > ~/.codex/state && echo kept\n");
    chmodSync(script, 0o755);
    expect(place.run(["run", "--", "codex"], at).stdout).toBe("kept\n");
    expect(existsSync(join(place.path, ".codex/state"))).toBe(true);
    expect(existsSync(join(place.path, ".gemini"))).toBe(false);
  });
});
