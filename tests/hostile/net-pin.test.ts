/** What reaches another program without the pin, and does not with it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { Workplace } from "../kernel/faraday-run.ts";
import { startServers } from "../kernel/net-servers.ts";
import { PYTHON } from "../kernel/test-programs.ts";
import { ATTEMPTS, readAnswers } from "./net-attempts.ts";

const place = new Workplace();
const servers = await startServers(place.path);
beforeAll(() => {
  chmodSync(place.path, 0o755);
  for (const name of ["in/stream", "out/stream"]) chmodSync(place.at(name), 0o777);
});
afterAll(() => {
  servers[Symbol.dispose]();
  place[Symbol.dispose]();
});

const TIMEOUT_MS = 60_000;

const POLICY = `[meta]
version = 1
default_action = "allow"

[network]
`;

const command = (): string[] => [
  ...[PYTHON, "-c", ATTEMPTS],
  ...[String(servers.allowed), String(servers.other), place.path],
];

/** Attempts, what they come to without Faraday, and under the pin. */
const TABLE: readonly (readonly [attempt: string, bare: string, pinned: string])[] = [
  ["allowed", "allowed", "allowed"],
  ["allowed by name", "allowed", "allowed"],
  ["allowed by the any address", "allowed", "allowed"],
  ["allowed, mapped", "allowed", "allowed"],
  ["allowed, six", "allowed", "allowed"],
  ["unix inside", "inside", "inside"],
  ["other port", "other", "EACCES"],
  ["other port by the any address", "other", "EACCES"],
  ["other port, six", "other-six", "EACCES"],
  ["other port, any six", "other-six", "EACCES"],
  ["other port, mapped", "other", "EACCES"],
  ["other address", "other-address", "EACCES"],
  ["other address, mapped", "other-address", "EACCES"],
  ["after a disconnect", "other", "EACCES"],
  ["a socket from a relative", "other", "EACCES"],
  ["a thread with a table of its own", "other", "EACCES"],
  ["an undumpable process", "other", "EACCES"],
  ["MSG_FASTOPEN, sendto", "other", "ENOTSUP"],
  ["MSG_FASTOPEN, sendmsg", "other", "ENOTSUP"],
  ["TCP_FASTOPEN_CONNECT", "set", "ENOTSUP"],
  ["source route", "set", "EPERM"],
  ["device", "set", "EPERM"],
  ["UDP", "opened", "EACCES"],
  ["UDP, six", "opened", "EACCES"],
  ["netlink, sock_diag", "opened", "EACCES"],
  ["netlink, uevents", "opened", "EACCES"],
  ["unix outside", "outside", "EACCES"],
  ["unix outside by a link", "outside", "EACCES"],
  ["unix outside by a relative path", "outside", "EACCES"],
  ["unix outside by /proc", "outside", "EACCES"],
  ["unix datagram", "sent", "EACCES"],
  ["unix datagram of a pair", "sent", "EACCES"],
  ["abstract outside", "outside-abstract", "ECONNREFUSED"],
  ["listen without bind", "listens", "EACCES"],
  ["bind", "bound", "EACCES"],
];
const ROOT_TABLE: typeof TABLE =
  process.getuid?.() === 0
    ? [
        ["raw", "opened", "EACCES"],
        ["packet", "opened", "EAFNOSUPPORT"],
        ["other credentials", "inside", "EACCES"],
      ]
    : [];

describe("the kernel pin", () => {
  let bare: Readonly<Record<string, string>>;
  let pinned: Readonly<Record<string, string>>;
  let records: readonly { readonly [key: string]: unknown }[];
  beforeAll(async () => {
    bare = readAnswers((await place.bare(command())).stdout);
    const policy = `${POLICY}kernel_pin = true
allowed_local_ports = [${servers.allowed}]
unix_sockets = ["${place.path}/in/**"]
`;
    const run = await place.faraday(command(), { policy });
    pinned = readAnswers(run.stdout);
    records = run.records.filter(({ event, layer }) => event === "net" && layer === "kernel");
  }, TIMEOUT_MS);

  test.each([...TABLE, ...ROOT_TABLE])("%s: %s, and with it %s", (attempt, free, held) => {
    expect(bare[attempt]).toBe(free);
    expect(pinned[attempt]).toBe(held);
  });

  test("leaves a record of each refusal, with the line that would allow it", () => {
    const { allowed, other } = servers;
    const facts = records.map(({ call, host, port, grant }) => ({ call, host, port, grant }));
    expect(facts).toContainEqual({
      call: "connect",
      host: "127.0.0.1",
      port: other,
      grant: `allowed_local_ports = [${other}]`,
    });
    expect(facts).toContainEqual({
      call: "connect",
      host: "127.0.0.2",
      port: allowed,
      grant: null,
    });
    const path = place.at("out/stream");
    expect(facts).toContainEqual({
      call: "connect",
      host: path,
      port: null,
      grant: `unix_sockets = ["${path}"]`,
    });
    expect(facts.map(({ call }) => call)).toEqual(expect.arrayContaining(["bind", "listen"]));
    expect(records.every(({ action }) => action === "deny")).toBe(true);
  });
});

/** A port that the command may listen on is reached only where it is the one who listens. */
const BESIDE = `
import errno, socket, sys
port = int(sys.argv[1])
def reached():
    try: return socket.create_connection(("127.0.0.1", port), 5).recv(64).decode()
    except OSError as error: return errno.errorcode[error.errno]
before = reached()
own = socket.create_server(("127.0.0.3", port))
print(before, reached())
`;

test(
  "a listener of one's own does not open somebody else's at the same port",
  async () => {
    const words = [PYTHON, "-c", BESIDE, String(servers.other)];
    expect((await place.bare(words)).stdout).toBe("other other\n");
    const policy = `${POLICY}kernel_pin = true\nallowed_bind_ports = [${servers.other}]\n`;
    expect((await place.faraday(words, { policy })).stdout).toBe("EACCES EACCES\n");
  },
  TIMEOUT_MS,
);

test(
  "--block-net leaves nothing but unix sockets that the policy names",
  async () => {
    const policy = `${POLICY}allowed_local_ports = [${servers.allowed}]
allowed_bind_ports = [${servers.other}]
unix_sockets = ["${place.path}/in/**"]
`;
    const run = await place.faraday(command(), { policy, flags: ["--block-net"] });
    const answers = readAnswers(run.stdout);
    expect(answers.allowed).toBe("EACCES");
    expect(answers["allowed, six"]).toBe("EACCES");
    expect(answers.UDP).toBe("EACCES");
    expect(answers["unix inside"]).toBe("inside");
    expect(answers["unix outside"]).toBe("EACCES");
    // No line of policy would allow what a flag has blocked.
    const refused = run.records.filter(({ layer, port }) => layer === "kernel" && port !== null);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.every(({ grant }) => grant === null)).toBe(true);
  },
  TIMEOUT_MS,
);

describe("a seal of files without a pin", () => {
  test(
    "holds unix sockets by path and leaves the rest of the network alone",
    async () => {
      const policy = `[meta]
version = 1
default_action = "allow"

[filesystem]
allow_globs = ["${place.path}/in/**"]
read_globs = ["/**"]
`;
      const run = await place.faraday(command(), { policy });
      const answers = readAnswers(run.stdout);
      const held = TABLE.filter(([attempt]) => attempt.startsWith("unix"));
      for (const [attempt, , pinned] of held)
        expect([attempt, answers[attempt]]).toEqual([attempt, pinned]);
      const open = TABLE.filter(([attempt]) => !/^(?:unix|abstract)/.test(attempt));
      for (const [attempt, free] of open)
        expect([attempt, answers[attempt]]).toEqual([attempt, free]);
      expect(answers["abstract outside"]).toBe("ECONNREFUSED");
    },
    TIMEOUT_MS,
  );
});
