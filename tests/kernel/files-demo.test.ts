/** The demo: an agent may change hello.py and not migrations/, whatever tool it takes. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Playground } from "./sealed-run.ts";

const TABLE = `
read_globs  = ["$T/src/**"]
write_globs = ["$T/src/hello.py", "$T/tmp/**"]
require_enforced = true
`;

function workspace(): Playground {
  const place = new Playground();
  place.file("src/hello.py", 'print("hello")\n');
  place.file("src/migrations/test.sql", "create table users (id int);\n");
  place.directory("tmp");
  return place;
}

const has = (program: string): boolean => existsSync(program);

interface Tool {
  readonly name: string;
  readonly needs: string;
  readonly edit: (path: string) => string[];
}

/** These write into the file that is there; what writes by rename is below. */
const IN_PLACE: readonly Tool[] = [
  { name: "sh", needs: "/bin/sh", edit: (path) => ["sh", "-c", `echo '# added' >> ${path}`] },
  {
    name: "python",
    needs: "/usr/bin/python3",
    edit: (path) => ["/usr/bin/python3", "-c", `open("${path}", "a").write("# added\\n")`],
  },
  {
    name: "perl",
    needs: "/usr/bin/perl",
    edit: (path) => ["perl", "-e", `open F, ">>", "${path}" or exit 1; print F "# added\\n"`],
  },
  {
    name: "tee",
    needs: "/usr/bin/tee",
    edit: (path) => ["sh", "-c", `echo '# added' | tee -a ${path}`],
  },
];

describe.each(IN_PLACE.filter(({ needs }) => has(needs)))("$name", ({ edit }) => {
  test("changes hello.py and fails on migrations/", () => {
    using place = workspace();
    const policy = place.policy(TABLE);
    const hello = join(place.path, "src/hello.py");
    const sql = join(place.path, "src/migrations/test.sql");
    expect(place.run(["run", "-p", policy, "--", ...edit(hello)]).exit).toBe(0);
    expect(readFileSync(hello, "utf8")).toContain("# added");
    const refused = place.run(["run", "-p", policy, "--", ...edit(sql)]);
    expect(refused.exit).not.toBe(0);
    expect(readFileSync(sql, "utf8")).not.toContain("added");
  });
});

/** These make a new file beside the old one and rename it, so they need the directory. */
const BY_RENAME: readonly Tool[] = [
  { name: "sed -i", needs: "/usr/bin/sed", edit: (path) => ["sed", "-i", "s/^/# added /", path] },
  {
    name: "perl -i",
    needs: "/usr/bin/perl",
    edit: (path) => ["perl", "-i", "-pe", "s/^/# added /", path],
  },
  {
    name: "vim",
    needs: "/usr/bin/vim",
    edit: (path) => [
      "vim",
      "-es",
      "-u",
      "NONE",
      "-c",
      "%s/^/# added /",
      "-c",
      "w",
      "-c",
      "qa!",
      path,
    ],
  },
];

describe.each(BY_RENAME.filter(({ needs }) => has(needs)))("$name", ({ edit }) => {
  test("works where the directory is granted, and never touches migrations/", () => {
    using place = workspace();
    place.file("src/app/hello.py", 'print("hello")\n');
    const policy = place.policy(TABLE.replace("$T/src/hello.py", "$T/src/app/**"));
    const hello = join(place.path, "src/app/hello.py");
    const sql = join(place.path, "src/migrations/test.sql");
    expect(place.run(["run", "-p", policy, "--", ...edit(hello)]).exit).toBe(0);
    expect(readFileSync(hello, "utf8")).toContain("# added");
    place.run(["run", "-p", policy, "--", ...edit(sql)]);
    expect(readFileSync(sql, "utf8")).not.toContain("added");
  });
});

test.if(has("/usr/bin/git"))("git works in a granted tree and nowhere else", () => {
  using place = workspace();
  place.directory("repo");
  const policy = place.policy('read_globs = ["$T/src/**"]\nallow_globs = ["$T/repo"]');
  const identity = "-c user.name=n -c user.email=e -c commit.gpgsign=false";
  const script = [
    "cd repo && git init -q . && echo one > a && git add a",
    `git ${identity} commit -qm one && git mv a b && git ${identity} commit -qam two`,
    "git checkout -qb other && git log --oneline | wc -l",
  ].join(" && ");
  const env = { HOME: join(place.path, "repo"), GIT_CONFIG_NOSYSTEM: "1" };
  const ran = place.run(["run", "-p", policy, "--", "sh", "-c", script], { env });
  expect(ran.stdout.trim()).toBe("2");
  const outside = ["run", "-p", policy, "--", "git", "init", join(place.path, "src")];
  expect(place.run(outside, { env }).exit).not.toBe(0);
});
