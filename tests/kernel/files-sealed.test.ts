/** builtin:sealed: work goes on in the project, secrets stay closed. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
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
  return place.run(["run", "-p", "builtin:sealed", "--", "sh", "-c", script], {
    cwd: join(place.path, cwd),
    env: { HOME: place.path },
  });
}

const CAN_PLACE = process.getuid?.() === 0;

describe.if(CAN_PLACE)("builtin:sealed", () => {
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
    const ran = run(place, "cat .bashrc; echo x >> .bashrc; echo x > project/y && echo ok", ".");
    expect(ran.stdout).toBe("# mine\nok\n");
    expect(ran.stderr).toContain("nothing can be created, removed or renamed directly in");
    expect(readFileSync(join(place.path, ".bashrc"), "utf8")).toBe("# mine\n");
  });
});
