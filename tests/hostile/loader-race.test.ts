import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, rmSync, symlinkSync } from "node:fs";
import { Workplace } from "../kernel/faraday-run.ts";
import { allowBut, compile, compileMarker, exe, LOADER } from "../kernel/test-programs.ts";

const ROUNDS = 1000;

const place = new Workplace();
const marker = place.at("marker");
const race = place.at("race");
const denied = place.at("denied");
const policy = allowBut(exe(denied));

/** Starts PROGRAM over and over while the two names ONE and OTHER are exchanged. */
const EXCHANGE_SOURCE = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rounds = atoi(argv[1]), pause = atoi(argv[2]);
  pid_t flipper = fork();
  if (flipper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
      syscall(SYS_renameat2, AT_FDCWD, argv[3], AT_FDCWD, argv[4], 2);
      for (volatile int spin = pause ? rand() % pause : 0; spin > 0; spin--);
    }
  }
  for (int round = 0; round < rounds; round++) {
    pid_t child = fork();
    if (child == 0) { execv(argv[5], argv + 5); _exit(1); }
    waitpid(child, NULL, 0);
  }
  kill(flipper, SIGKILL);
  waitpid(flipper, NULL, 0);
  return 0;
}`;

beforeAll(async () => {
  await compile(place, "race", EXCHANGE_SOURCE);
  await compileMarker(place, "denied", marker);
});
afterAll(() => place[Symbol.dispose]());

const PAUSES = ["0", "200000"];

/** `putInOrder` gives the two names to the files that the rule was written for. */
async function expectInVain(
  names: readonly [string, string],
  command: readonly string[],
  putInOrder: () => void,
): Promise<void> {
  for (const pause of PAUSES) {
    putInOrder();
    await place.bare([race, "100", pause, ...names, ...command]);
    expect(existsSync(marker)).toBe(true);
    rmSync(marker);
    putInOrder();
    const words = [race, String(ROUNDS), pause, ...names, ...command];
    const kept = await place.faraday(words, { policy });
    expect(kept.exit).toBe(0);
    expect(existsSync(marker)).toBe(false);
    const { counts } = kept.records.at(-1) ?? {};
    expect(counts?.deny).toBeGreaterThan(0);
    expect(counts?.allow).toBeGreaterThan(1);
  }
}

describe("a loader started by hand maps only what was judged", () => {
  test("though the link it is given is exchanged", async () => {
    const names = [place.at("link"), place.at("other-link")] as const;
    await expectInVain(names, [LOADER, names[0]], () => {
      for (const name of names) rmSync(name, { force: true });
      symlinkSync("/bin/true", names[0]);
      symlinkSync(denied, names[1]);
    });
  });

  test("though the files themselves are exchanged", async () => {
    const names = [place.at("good"), denied] as const;
    const original = place.at("original");
    copyFileSync(denied, original);
    await expectInVain(names, [LOADER, names[0]], () => {
      for (const name of names) rmSync(name, { force: true });
      copyFileSync("/bin/true", names[0]);
      copyFileSync(original, names[1]);
    });
  });
});

describe("an ELF interpreter is what was judged", () => {
  const build = (): Promise<string> =>
    compile(place, "program", "int main(void) { return 0; }", [
      `-Wl,--dynamic-linker=${place.at("interpreter")}`,
    ]);
  const evil = place.at("evil");

  beforeAll(async () => {
    const source = `#include <sys/syscall.h>
#ifdef __x86_64__
#define CALL(n, a, b, c) ({ long r = n; register long d __asm__("r10") = 0644; \\
  __asm__ volatile("syscall" : "+a"(r) : "D"((long)(a)), "S"(b), "d"((long)(c)), "r"(d) \\
  : "rcx", "r11", "memory"); r; })
#else
#define CALL(n, a, b, c) ({ register long x8 __asm__("x8") = n; \\
  register long x0 __asm__("x0") = (long)(a); register long x1 __asm__("x1") = (long)(b); \\
  register long x2 __asm__("x2") = (long)(c); register long x3 __asm__("x3") = 0644; \\
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory"); x0; })
#endif
void _start(void) {
  CALL(SYS_openat, -100, "${marker}", 0101);
  CALL(SYS_exit_group, 0, 0, 0);
}`;
    await compile(place, "evil", source, ["-nostdlib", "-static-pie", "-fno-stack-protector"]);
  });

  test("also after the program was seen to be harmless many times", async () => {
    rmSync(marker, { force: true });
    const program = await build();
    symlinkSync(LOADER, place.at("interpreter"));
    // Long enough ago that a memory of what the file is would be trusted.
    await place.bare(["touch", "-d", "2001-01-01", program]);
    await Bun.sleep(2500);
    const often = `for i in 1 2 3; do ${program}; done`;
    const script = `${often}; ln -sfn ${evil} interpreter; ${program}; true`;
    const kept = await place.faraday(["sh", "-c", script], { policy: allowBut(exe(evil)) });
    expect(kept.exit).toBe(0);
    expect(existsSync(marker)).toBe(false);
    expect(kept.records.at(-1)?.counts).toMatchObject({ deny: 1 });
    await place.bare([program]);
    expect(existsSync(marker)).toBe(true);
  });

  test("though its name is exchanged", async () => {
    const program = await build();
    for (const name of ["interpreter", "interpreter-other"]) {
      rmSync(place.at(name), { force: true });
    }
    symlinkSync(LOADER, place.at("interpreter"));
    symlinkSync(evil, place.at("interpreter-other"));
    const names = [place.at("interpreter"), place.at("interpreter-other")] as const;
    rmSync(marker, { force: true });
    const words = [race, String(ROUNDS), "200000", ...names, program];
    const kept = await place.faraday(words, { policy: allowBut(exe(evil)) });
    expect(existsSync(marker)).toBe(false);
    expect(kept.records.at(-1)?.counts?.deny).toBeGreaterThan(0);
  });
});
