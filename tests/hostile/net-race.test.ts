/** Threads that change an address, a link or a descriptor while the supervisor looks at it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Workplace } from "../kernel/faraday-run.ts";
import { startServers } from "../kernel/net-servers.ts";
import { compile } from "../kernel/test-programs.ts";

const TIMEOUT_MS = 60_000;
const ROUNDS = 1500;

/** Prints how often the allowed thing and how often the other thing happened. */
const SOURCE = `
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static volatile int done;
static union { struct sockaddr any; struct sockaddr_in in; struct sockaddr_un un; } address;
static int ports[2], fds[2];
static char paths[2][100], links[2][100], link_path[100];
static void *flip_port(void *unused) {
  volatile in_port_t *port = &address.in.sin_port;
  while (!done) { *port = htons(ports[0]); *port = htons(ports[1]); }
  return 0;
}
static void *flip_path(void *unused) {
  /* The two differ in one byte. */
  int at = 0;
  while (paths[0][at] == paths[1][at]) at++;
  volatile char *byte = &address.un.sun_path[at];
  while (!done) { *byte = paths[0][at]; *byte = paths[1][at]; }
  return 0;
}
static void *flip_link(void *unused) {
  char fresh[120];
  snprintf(fresh, sizeof fresh, "%s.new", link_path);
  for (int i = 0; !done; i = !i) { symlink(paths[i], fresh); rename(fresh, link_path); }
  return 0;
}
static void *flip_fd(void *unused) {
  while (!done) { dup2(fds[0], 100); dup2(fds[1], 100); }
  return 0;
}
static int is_outside(int fd) {
  char name[64] = "";
  for (int at = 0, got = 1; at < 63 && got > 0; at += got) got = read(fd, name + at, 63 - at);
  return strcmp(name, "inside") != 0;
}
int main(int argc, char **argv) {
  const char *mode = argv[1];
  int rounds = atoi(argv[2]), good = 0, bad = 0;
  pthread_t thread;
  if (!strcmp(mode, "port")) {
    ports[0] = atoi(argv[3]); ports[1] = atoi(argv[4]);
    address.in.sin_family = AF_INET;
    address.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.in.sin_port = htons(ports[0]);
    pthread_create(&thread, 0, flip_port, 0);
    for (int i = 0; i < rounds; i++) {
      int fd = socket(AF_INET, SOCK_STREAM, 0);
      struct sockaddr_in peer; socklen_t length = sizeof peer;
      if (connect(fd, &address.any, sizeof address.in) == 0 &&
          getpeername(fd, (void *)&peer, &length) == 0) {
        if (ntohs(peer.sin_port) == ports[0]) good++; else bad++;
      }
      close(fd);
    }
  } else if (!strcmp(mode, "path") || !strcmp(mode, "link")) {
    int links = mode[0] == 'l';
    strcpy(paths[0], argv[3]); strcpy(paths[1], argv[4]);
    if (links) strcpy(link_path, argv[5]);
    address.un.sun_family = AF_UNIX;
    strcpy(address.un.sun_path, links ? link_path : paths[0]);
    if (links) symlink(paths[0], link_path);
    pthread_create(&thread, 0, links ? flip_link : flip_path, 0);
    for (int i = 0; i < rounds; i++) {
      int fd = socket(AF_UNIX, SOCK_STREAM, 0);
      if (connect(fd, &address.any, sizeof address.un) == 0) {
        if (is_outside(fd)) bad++; else good++;
      }
      close(fd);
    }
  } else if (!strcmp(mode, "listen")) {
    pthread_t second;
    int started = 0;
    for (int i = 0; i < rounds; i++) {
      int unix_fd = socket(AF_UNIX, SOCK_STREAM, 0), tcp = socket(AF_INET, SOCK_STREAM, 0);
      struct sockaddr_un name = { AF_UNIX };
      bind(unix_fd, (void *)&name, sizeof(sa_family_t));
      fds[0] = unix_fd; fds[1] = tcp;
      dup2(fds[i % 2], 100);
      if (!started++) pthread_create(&thread, 0, flip_fd, 0);
      listen(100, 1);
      int listens = 0; socklen_t length = sizeof listens;
      getsockopt(tcp, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length);
      if (listens) bad++;
      getsockopt(unix_fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length);
      if (listens) good++;
      close(unix_fd); close(tcp);
    }
  }
  done = 1;
  printf("%d %d\\n", good, bad);
  fflush(stdout);
  _exit(0);
}`;

const place = new Workplace();
const servers = await startServers(place.path);
const program = await compile(place, "race", SOURCE, ["-pthread"]);
beforeAll(async () => {
  // Named so that one flipped byte leads from one to the other.
  for (const name of ["in", "out"]) await place.bare(["ln", "-s", name, `x${name[0]}`]);
}, TIMEOUT_MS);
afterAll(() => {
  servers[Symbol.dispose]();
  place[Symbol.dispose]();
});

const policy = (): string => `[meta]
version = 1
default_action = "allow"

[network]
kernel_pin = true
allowed_local_ports = [${servers.allowed}]
unix_sockets = ["${place.path}/in/**"]
`;

const counts = (stdout: string): { readonly good: number; readonly bad: number } => {
  const [good = Number.NaN, bad = Number.NaN] = stdout.trim().split(" ").map(Number);
  return { good, bad };
};

describe("a race against the supervisor", () => {
  test.each([
    {
      mode: "port",
      words: () => [servers.allowed, servers.other].map(String),
      because: "the port in memory",
    },
    {
      mode: "path",
      words: () => [place.at("xi/stream"), place.at("xo/stream")],
      because: "the path in memory",
    },
    {
      mode: "link",
      words: () => [place.at("in/stream"), place.at("out/stream"), place.at("in/link")],
      because: "the link on the disk",
    },
    { mode: "listen", words: () => [], because: "the socket behind a number" },
  ])(
    "over $because is lost",
    async ({ mode, words }) => {
      const command = [program, mode, String(ROUNDS), ...words()];
      const bare = counts((await place.bare(command)).stdout);
      expect(bare.good).toBeGreaterThan(0);
      expect(bare.bad).toBeGreaterThan(0);
      const held = counts((await place.faraday(command, { policy: policy() })).stdout);
      expect(held.good).toBeGreaterThan(0);
      expect(held.bad).toBe(0);
    },
    TIMEOUT_MS,
  );
});
