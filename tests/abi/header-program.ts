import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A number of ours and the C expression that the headers have for it. */
export interface Fact {
  readonly name: string;
  readonly ours: number;
  readonly expression: string;
  /** A preprocessor condition, for what older headers or another machine's do not have. */
  readonly guard?: { readonly condition: string; readonly reason: string };
}

/** Facts whose headers can be included together; kernel and libc headers often cannot. */
export interface Unit {
  readonly prelude: string;
  readonly facts: readonly Fact[];
}

/** What a fact's expression is worth; null where its guard does not hold. */
export type Answers = ReadonlyMap<string, number | null>;

const GCC_TIMEOUT_MS = 60_000;

/** Headers to compare with are on Linux only, and there only with gcc and linux-libc-dev. */
export const HAS_HEADERS =
  process.platform === "linux" &&
  Bun.which("gcc") !== null &&
  existsSync("/usr/include/linux/seccomp.h") &&
  existsSync("/usr/include/stdio.h");

/** Makes one C program of all the facts, and runs it. */
export function askHeaders(units: readonly Unit[]): Answers {
  const place = mkdtempSync(join(tmpdir(), "faraday-abi-"));
  try {
    const sources = units.map((unit, index) =>
      write(place, `unit${index}.c`, unitSource(unit, index)),
    );
    sources.push(write(place, "main.c", mainSource(units)));
    const program = join(place, "facts");
    run(["gcc", "-w", "-o", program, ...sources]);
    const values: (number | null)[] = JSON.parse(run([program]));
    const names = units.flatMap(({ facts }) => facts.map(({ name }) => name));
    if (values.length !== names.length) throw new Error("the program answered something else");
    return new Map(names.map((name, index) => [name, values[index] ?? null]));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function write(place: string, name: string, text: string): string {
  const path = join(place, name);
  writeFileSync(path, text);
  return path;
}

function run(command: readonly string[]): string {
  const done = Bun.spawnSync([...command], { timeout: GCC_TIMEOUT_MS });
  if (!done.success) throw new Error(`${command[0]}: ${done.stderr.toString()}`);
  return done.stdout.toString();
}

/** No stdio.h in here: it would bring libc's types into units of the kernel's headers. */
function unitSource({ prelude, facts }: Unit, index: number): string {
  const lines = facts.map(({ expression, guard }, at) => {
    const line = `  values[${at}] = (long long)(${expression}); known[${at}] = 1;`;
    return guard === undefined ? line : `#if ${guard.condition}\n${line}\n#endif`;
  });
  return `${prelude}
#include <stddef.h>
void unit${index}(long long *values, char *known) {
${lines.join("\n")}
}
`;
}

function mainSource(units: readonly Unit[]): string {
  const names = units.map((_, index) => `unit${index}`);
  const longest = Math.max(1, ...units.map(({ facts }) => facts.length));
  return `#include <stdio.h>
#include <string.h>
${names.map((name) => `void ${name}(long long *, char *);`).join("\n")}
static struct { void (*fill)(long long *, char *); int count; } units[] = {
${units.map(({ facts }, index) => `  { unit${index}, ${facts.length} },`).join("\n")}
};
int main(void) {
  static long long values[${longest}];
  static char known[${longest}];
  const char *separator = "[";
  for (unsigned u = 0; u < sizeof units / sizeof *units; u++) {
    memset(known, 0, sizeof known);
    units[u].fill(values, known);
    for (int i = 0; i < units[u].count; i++, separator = ",") {
      if (known[i]) printf("%s%lld", separator, values[i]);
      else printf("%snull", separator);
    }
  }
  puts("]");
  return 0;
}
`;
}

/** The version of the kernel's headers, for the names of tests that are skipped. */
export function headersVersion(): string {
  const text = readFileSync("/usr/include/linux/version.h", "utf8");
  const part = (name: string) => new RegExp(`LINUX_VERSION_${name} (\\d+)`).exec(text)?.[1] ?? "?";
  return `${part("MAJOR")}.${part("PATCHLEVEL")}`;
}
