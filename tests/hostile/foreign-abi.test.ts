import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { Workplace } from "../kernel/faraday-run.ts";
import { allowBut, compile, compileMarker, exe, isX64 } from "../kernel/test-programs.ts";

const place = new Workplace();
const marker = place.at("marker");
afterAll(() => place[Symbol.dispose]());

/** Calls execve by a number that is not the native one; exits with the errno. */
const FOREIGN_SOURCE = `
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv) {
  long number = strtol(argv[2], 0, 0), result;
  char *low = mmap((void *)0x10000000, 8192, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  strcpy(low, argv[3]);
  if (strcmp(argv[1], "int80") == 0) {
    unsigned *list = (unsigned *)(low + 4096);
    list[0] = (unsigned)(long)low; list[1] = 0;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(low), "c"(list), "d"(0)
                     : "memory");
  } else {
    unsigned long *list = (unsigned long *)(low + 4096);
    list[0] = (unsigned long)low; list[1] = 0;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(low), "S"(list), "d"(0)
                     : "rcx", "r11", "memory");
  }
  _exit(result < 0 ? -result : 0);
}`;

const ENOSYS = 38;
const EACCES = 13;

describe.if(isX64)("a denied program cannot be started through another system call ABI", () => {
  test.each([
    { way: "int80", number: "11", refusal: ENOSYS, worksBare: true },
    { way: "int80", number: "358", refusal: ENOSYS, worksBare: false },
    { way: "syscall", number: "0x40000208", refusal: ENOSYS, worksBare: false },
    { way: "syscall", number: "0x4000003b", refusal: ENOSYS, worksBare: false },
    { way: "syscall", number: "0x10000003b", refusal: EACCES, worksBare: true },
    { way: "syscall", number: "59", refusal: EACCES, worksBare: true },
  ])("$way $number", async ({ way, number, refusal, worksBare }) => {
    rmSync(marker, { force: true });
    const program = await compile(place, "foreign", FOREIGN_SOURCE);
    const denied = await compileMarker(place, "denied", marker);
    const command = [program, way, number, denied];
    if (worksBare && !(await place.bare(command)).stdout.startsWith("denied ran")) {
      // A kernel without the 32-bit ABI: there is nothing to escape through.
      expect(way).toBe("int80");
    }
    rmSync(marker, { force: true });
    const kept = await place.faraday(command, { policy: allowBut(exe(denied)) });
    expect([kept.exit, kept.stdout]).toEqual([refusal, ""]);
    expect(existsSync(marker)).toBe(false);
  });
});
