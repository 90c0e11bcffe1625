/** Races for what the supervisor opens beside a hole: memory, links, and directories that move. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { Workplace } from "../kernel/faraday-run.ts";
import { compile } from "../kernel/test-programs.ts";

const place = new Workplace();
const ROUNDS = 4000;

/** Opens a name while another thread changes what it stands for; counts whose content it got. */
const SOURCE = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static char path[32];
static volatile int done;
static void put(const char *link, const char *target) {
  symlink(target, "proj/.tmp-link");
  rename("proj/.tmp-link", link);
}
static void *memory(void *unused) {
  volatile char *first = &path[5];
  while (!done) { *first = '.'; *first = 'x'; }
  return NULL;
}
static void *links(void *unused) {
  while (!done) { put("proj/link", ".env"); put("proj/link", "xenv"); }
  return NULL;
}
static void *moves(void *unused) {
  while (!done) { rename("proj/way", "proj/away"); rename("proj/away", "proj/way"); }
  return NULL;
}
int main(int count, char **words) {
  int rounds = atoi(words[2]), secret = 0, plain = 0;
  pthread_t other;
  void *(*race)(void *) = words[1][1] == 'e' ? memory : words[1][1] == 'i' ? links : moves;
  strcpy(path, race == memory ? "proj/xenv" : race == links ? "proj/link" : "proj/way/../.env");
  if (race == links) put("proj/link", "xenv");
  if (race == moves) { mkdir("proj/way", 0755); strcpy(path, "proj/way/../xenv"); }
  pthread_create(&other, NULL, race, NULL);
  for (int i = 0; i < rounds; i++) {
    char text[16] = "";
    if (race == moves) memcpy(path + 12, i % 2 ? ".env" : "xenv", 4);
    int fd = open(path, i % 3 ? O_RDONLY : O_RDWR);
    if (fd < 0) continue;
    read(fd, text, 6);
    close(fd);
    if (strncmp(text, "SECRET", 6) == 0) secret++;
    if (strncmp(text, "PLAIN!", 6) == 0) plain++;
  }
  done = 1;
  pthread_join(other, NULL);
  printf("%s %s\\n", secret > 0 ? "secret" : "-", plain > 0 ? "plain" : "-");
  return 0;
}`;

beforeAll(async () => {
  mkdirSync(place.at("proj"));
  place.write("proj/.env", "SECRET");
  await compile(place, "race", SOURCE);
});
afterAll(() => place[Symbol.dispose]());

const policy = (hole: string): string => `
[meta]
default_action = "allow"
[filesystem]
read_globs = ["${place.path}"]
allow_globs = ["${place.path}/proj"]
deny_globs = [${hole}]
allow_self_write = true`;

test.each(["memory", "links", "moves"])("no race on %s gets what is in a hole", async (way) => {
  // Made after the start, so that the supervisor is the one to open it.
  const script = `rm -f proj/xenv; printf PLAIN! > proj/xenv; ./race ${way} ${ROUNDS}`;
  const words = ["sh", "-c", script];
  const held = await place.faraday(words, { policy: policy(`"${place.path}/proj/.env"`) });
  expect(held.stdout).toBe("- plain\n");
  const free = await place.faraday(words, { policy: policy(`"${place.path}/proj/other"`) });
  expect(free.stdout).toBe("secret plain\n");
});
