import { chmodSync, existsSync } from "node:fs";
import type { Workplace } from "./faraday-run.ts";
import { runCommand } from "./faraday-run.ts";

/** A version manager's python3 is a script that starts half a dozen others: take the real one. */
export const PYTHON = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";

export const LOADER =
  process.arch === "arm64" ? "/lib/ld-linux-aarch64.so.1" : "/lib64/ld-linux-x86-64.so.2";

export const isX64 = process.arch === "x64";

/** Compiles C at test time; the repository holds none. */
export async function compile(
  place: Workplace,
  name: string,
  source: string,
  flags: readonly string[] = [],
): Promise<string> {
  const path = place.at(name);
  const text = place.write(`${name.replaceAll("/", "-")}.c`, source);
  const built = await runCommand(["gcc", "-O1", "-w", "-o", path, text, ...flags]);
  if (built.exit !== 0) throw new Error(`gcc: ${built.stderr}`);
  return path;
}

/** A program that says so on stdout and leaves one byte in the marker file when it runs. */
export function compileMarker(place: Workplace, name: string, marker: string): Promise<string> {
  return compile(
    place,
    name,
    `#include <stdio.h>
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int fd = open("${marker}", O_CREAT | O_WRONLY | O_APPEND, 0644);
  if (write(fd, "x", 1) != 1) return 9;
  printf("%s ran", "${name}");
  for (int i = 1; i < argc; i++) printf(" %s", argv[i]);
  puts("");
  return 0;
}`,
  );
}

const FREESTANDING = `
#include <sys/syscall.h>
static long call(long number, long a, long b, long c, long d) {
#ifdef __x86_64__
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return number;
#else
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
                x2 __asm__("x2") = c, x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
#endif
}
void _start(void) {
  call(SYS_openat, -100, (long)"@MARKER@", 0101, 0644);
  call(SYS_exit_group, 0, 0, 0, 0);
}`;

/** One that needs no C library, so that it can start as the ELF interpreter of another. */
export function compileBareMarker(place: Workplace, name: string, marker: string): Promise<string> {
  const flags = ["-nostdlib", "-static-pie", "-fno-stack-protector"];
  return compile(place, name, FREESTANDING.replace("@MARKER@", marker), flags);
}

/** An executable script. */
export function script(place: Workplace, name: string, text: string): string {
  const path = place.write(name, text, 0o755);
  chmodSync(path, 0o755);
  return path;
}

/** Allows everything but what these rules deny. */
export function allowBut(...rules: readonly string[]): string {
  return policy("allow", ...rules);
}

/** Denies everything but what these rules allow. */
export function denyBut(...rules: readonly string[]): string {
  return policy("deny", ...rules);
}

function policy(action: "allow" | "deny", ...rules: readonly string[]): string {
  const other = action === "allow" ? "deny" : "allow";
  const tables = rules.map(
    (keys, index) => `[[rule]]\nid = "r${index + 1}"\naction = "${other}"\n${keys}\n`,
  );
  return `[meta]\nversion = 1\ndefault_action = "${action}"\n\n${tables.join("\n")}`;
}

/** TOML that names a program by its path. */
export const exe = (...paths: readonly string[]): string => `exe = ${JSON.stringify(paths)}`;
