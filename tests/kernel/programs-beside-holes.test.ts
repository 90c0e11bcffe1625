/** Programs at work in a project with holes, on what the kernel's rules cannot grant. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { project, TABLE } from "./hole-project.ts";
import { faradayWords, Playground } from "./sealed-run.ts";

test("what somebody else makes where a pattern might match stays closed", async () => {
  using place = project();
  const table = `allow_globs = ["$T/proj"]\ndeny_globs = ["$T/proj/.e*", "$T/proj/.git/hooks"]`;
  const script = `echo started; read line; cat .env.new; cat .e/f; cat main.py
echo more > .git/index; cat .git/index`;
  const words = [...faradayWords(), "run", "-p", place.policy(table), "--", "sh", "-c", script];
  const cwd = join(place.path, "proj");
  const run = Bun.spawn(words, { cwd, stdin: "pipe", stdout: "pipe", stderr: "ignore" });
  const reader = run.stdout.getReader();
  await reader.read();
  place.file("proj/.env.new", "SECRET\n");
  place.file("proj/.e/f", "SECRET\n");
  run.stdin.write("go\n");
  await run.stdin.end();
  let told = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    told += Buffer.from(value).toString();
  }
  expect(told).toBe("content\nmore\n");
});

test("git works beside its hooks, and editors save by renaming", () => {
  using place = new Playground();
  place.file("proj/main.py");
  place.file("proj/src/x.py");
  place.directory("proj/.git/hooks");
  const policy = place.policy(`read_globs = ["/etc", "/usr"]\n${TABLE}`);
  const script = `set -e
git init -q --template= .
git config user.email a@b; git config user.name n
sed -i s/content/changed/ main.py
git add main.py src; git commit -qm one
umask 077; echo more > private; git checkout -q -b topic; git add private; git commit -qm two
git log --format=%s; stat -c %a private; cat main.py`;
  const env = { HOME: place.path, GIT_CONFIG_NOSYSTEM: "1" };
  const words = ["run", "-p", policy, "--", "sh", "-c", script];
  const ran = place.run(words, { cwd: join(place.path, "proj"), env });
  expect(ran).toMatchObject({ exit: 0, stdout: "two\none\n600\nchanged\n" });
});

test("a file beside a hole is opened by a descriptor of it, and the hole is not", () => {
  using place = project();
  const script = `echo more > new; exec 7<new; cat /proc/self/fd/7
python3 -c 'import os; os.open("/proc/self/fd/%d" % os.open(".env", os.O_PATH), 0)' 2>&1 | tail -1`;
  const words = ["run", "-p", place.policy(TABLE), "--", "sh", "-c", script];
  const env = { PATH: "/usr/bin:/bin" };
  const ran = place.run(words, { cwd: join(place.path, "proj"), env });
  expect(ran.stdout).toMatch(/^more\nPermissionError: .*\n$/);
});

test("every file has what was written to it, while programs are started in between", () => {
  using place = project();
  const script = `i=0; while [ $i -lt 150 ]; do i=$((i+1)); echo $i > n$i; cat n$i; rm n$i; done`;
  const words = ["run", "-p", place.policy(TABLE), "--", "sh", "-c", script];
  const ran = place.run(words, { cwd: join(place.path, "proj") });
  const numbers = Array.from({ length: 150 }, (_, index) => `${index + 1}\n`);
  expect(ran).toEqual({ exit: 0, stdout: numbers.join(""), stderr: "" });
});
