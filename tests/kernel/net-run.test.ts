/** The network layer of `run` as a user meets it: flags, environment, secrets, reports. */
import { afterAll, describe, expect, test } from "bun:test";
import { answering, HELLO, rawServer } from "../proxy/proxy-fixture.ts";
import { Workplace } from "./faraday-run.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

const ALLOW_ALL = '[meta]\ndefault_action = "allow"\n';
/** Loopback is excepted from the proxy by default; the tests' servers are there. */
const CURL = "curl -sS --noproxy '' --max-time 20";

describe("worked examples", () => {
  test("an allowlist lets through what it lists, and nothing else", async () => {
    using server = answering(HELLO);
    const flags = ["--allow-domain", "localhost", "--allow-domain", "*.github.com"];
    const { port } = server;
    const script = `${CURL} http://localhost:${port}/; ${CURL} http://127.0.0.1:${port}/`;
    const kept = await place.faraday(["sh", "-c", script], { flags });
    expect(kept.stdout).toStartWith("hello");
    expect(kept.stdout).toContain("faraday: 127.0.0.1 is not in allowed_hosts\n");
    expect(server.received).toHaveLength(1);
    expect(kept.stderr).toContain("faraday: denied 1 network request\n");
    expect(kept.stderr).toContain('\n    allowed_hosts = ["127.0.0.1"]\n');
    const verdicts = kept.records.filter(({ event }) => event === "net");
    expect(verdicts.map(({ action, host }) => [action, host])).toEqual([
      ["allow", "localhost"],
      ["deny", "127.0.0.1"],
    ]);
  });

  test("a deny list lets through everything else", async () => {
    const policy = `${ALLOW_ALL}[network]\ndenied_hosts = ["*.doubleclick.net"]\n`;
    const script = `${CURL} http://ads.doubleclick.net/; ${CURL} http://faraday-test.invalid/`;
    const kept = await place.faraday(["sh", "-c", script], { policy });
    expect(kept.stdout).toContain('is denied by "*.doubleclick.net" in denied_hosts');
    // It is let through; that it does not exist is for the name servers to say.
    expect(kept.stdout).toContain("faraday-test.invalid: ");
    const verdicts = kept.records.filter(({ event }) => event === "net");
    expect(verdicts.map(({ action }) => action)).toEqual(["deny", "error"]);
  });

  test("a deny list carves out of an allowlist", async () => {
    using server = answering(HELLO);
    const policy = `${ALLOW_ALL}[network]
allowed_hosts = ["127.0.0.0/8"]
denied_hosts = ["127.0.0.2"]
`;
    const url = (host: string): string => `${CURL} http://${host}:${server.port}/`;
    const kept = await place.faraday(["sh", "-c", `${url("127.0.0.1")}; ${url("127.0.0.2")}`], {
      policy,
    });
    expect(kept.stdout).toStartWith("hello");
    expect(kept.stdout).toContain('is denied by "127.0.0.2" in denied_hosts');
  });

  test("cloud metadata is out of reach, whatever is allowed", async () => {
    const flags = ["--allow-domain", "0.0.0.0/0"];
    const kept = await place.faraday(["sh", "-c", `${CURL} http://169.254.169.254/latest/`], {
      flags,
      // The default policy would not even start a curl with this URL.
      policy: ALLOW_ALL,
    });
    expect(kept.stdout).toContain("a host of cloud metadata, which no policy opens");
    expect(kept.records.find(({ event }) => event === "net")?.rule_id).toBe("builtin:metadata");
  });
});

describe("the agent's environment", () => {
  const run = (policy: string, env: Record<string, string> = {}) =>
    place.faraday(["env"], { policy, env: { PATH: "/usr/bin:/bin", ...env } });
  const variables = (stdout: string): Map<string, string> =>
    new Map(
      stdout
        .trim()
        .split("\n")
        .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
    );

  test("names the proxy in every spelling, over what the caller had", async () => {
    const kept = await run(`${ALLOW_ALL}[network]\n`, {
      HTTP_PROXY: "http://old:1",
      no_proxy: "*",
      OTHER: "x",
    });
    const found = variables(kept.stdout);
    const url = found.get("HTTP_PROXY") ?? "";
    expect(url).toMatch(/^http:\/\/faraday:[0-9a-f]{48}@127\.0\.0\.1:\d+$/);
    for (const name of ["HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]) {
      expect(found.get(name)).toBe(url);
    }
    expect(found.get("no_proxy")).toBe("localhost,127.0.0.1,::1");
    expect(found.get("NO_PROXY")).toBe("localhost,127.0.0.1,::1");
    expect(found.get("OTHER")).toBe("x");
    expect(kept.stdout.match(/^HTTP_PROXY=/gm)).toHaveLength(1);
  });

  test("is unchanged without a network setting", async () => {
    const kept = await run(ALLOW_ALL, { HTTP_PROXY: "http://old:1" });
    expect(variables(kept.stdout).get("HTTP_PROXY")).toBe("http://old:1");
  });

  test("has the token of a route, and not its secret", async () => {
    const kept = await run(
      `${ALLOW_ALL}[network.routes.svc]
upstream = "https://api.example"
credential_key = "svc"
env = { SVC_BASE_URL = "{url}/v1", SVC_KEY = "{token}" }
[credentials.svc]
env = "REAL_SECRET"
[credentials.unused]
env = "OTHER_SECRET"
`,
      {
        REAL_SECRET: "hush-hush-hush-hush",
        OTHER_SECRET: "hush-too",
        SAME_SECRET: "hush-hush-hush-hush",
        SECRET_URL: "https://me:hush-hush-hush-hush@api.example/",
        OWN_URL: "https://api.example/",
      },
    );
    expect(kept.stderr).toBe("");
    const found = variables(kept.stdout);
    expect(found.get("SVC_BASE_URL")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/svc\/v1$/);
    expect(found.get("HTTP_PROXY")).toContain(`:${found.get("SVC_KEY")}@`);
    expect(kept.stdout).not.toContain("hush");
    expect(found.get("OWN_URL")).toBe("https://api.example/");
    expect(JSON.stringify(kept.records)).not.toContain("hush");
    expect(JSON.stringify(kept.records)).not.toContain(found.get("SVC_KEY") ?? "?");
  });
});

describe("a secret", () => {
  const env = { PATH: "/usr/bin:/bin", SVC_API_KEY: "hush-hush", MINE: "hush-too", ELSE: "kept" };
  test.each([
    [
      "where the network is blocked",
      '[network.routes.svc]\nupstream = "https://api.example"\ncredential_key = "svc"\n',
      ["--block-net"],
    ],
    ["without a route", "", []],
  ])("is kept from the agent %s", async (_, route, flags) => {
    const policy = `${ALLOW_ALL}${route}[credentials.mine]\nenv = "MINE"\n`;
    const kept = await place.faraday(["env"], { policy, flags, env });
    expect(kept.stderr).toBe("");
    expect(kept.stdout).toContain("ELSE=kept\n");
    expect(kept.stdout).not.toContain("MINE=");
    expect(kept.stdout.includes("SVC_API_KEY=")).toBe(route === "");
  });
});

describe("a credential", () => {
  const policyWith = (port: number, source: string): string => `${ALLOW_ALL}[network.routes.svc]
upstream = "http://127.0.0.1:${port}"
credential_key = "svc"
env = { URL = "{url}", KEY = "{token}" }
${source}
`;
  const ask = ["sh", "-c", 'curl -sS -H "Authorization: Bearer $KEY" "$URL/x"'];
  const env = { PATH: "/usr/bin:/bin" };

  test.each([
    ["a variable", '[credentials.svc]\nenv = "MY_KEY"', { MY_KEY: "from-env" }, "from-env"],
    ["the usual variable", "", { SVC_API_KEY: "from-usual" }, "from-usual"],
    ["a file", `[credentials.svc]\nfile = "${place.write("key", "from-file\n")}"`, {}, "from-file"],
    [
      "a command",
      '[credentials.svc]\ncommand = ["printf", "%s\\n", "from $HOME; command"]',
      {},
      "from $HOME; command",
    ],
  ])("comes from %s", async (_, source, extra, secret) => {
    using server = answering(HELLO);
    const policy = policyWith(server.port, source);
    const kept = await place.faraday(ask, { policy, env: { ...env, ...extra } });
    expect(kept.stdout).toBe("hello");
    expect(server.received[0]).toContain(`Authorization: Bearer ${secret}\r\n`);
    expect(kept.exit).toBe(0);
  });

  test.each([
    ['env = "NOT_SET"', "the environment variable NOT_SET is not set"],
    ['file = "/nonexistent/key"', "/nonexistent/key cannot be read (ENOENT)"],
    ['command = ["false"]', "the command false ended with exit code 1"],
    ['command = ["/nonexistent/program"]', "cannot be started"],
    ['command = ["true"]', "it is empty"],
    ['command = ["printf", "a\\nb"]', "is not one line of ASCII"],
  ])("that is missing starts nothing: %s", async (source, why) => {
    const marker = place.fresh("marker");
    const policy = policyWith(1, `[credentials.svc]\n${source}`);
    const kept = await place.faraday(["touch", marker], { policy, env });
    expect(kept.exit).toBe(125);
    expect(kept.stderr).toContain(why);
    expect(kept.stderr).toContain("hint: ");
    expect(await Bun.file(marker).exists()).toBe(false);
  });
});

describe("the run", () => {
  test("says what the layer leaves open", async () => {
    const kept = await place.faraday(["true"], { flags: ["--allow-domain", "a.example"] });
    const start = kept.records.find(({ event }) => event === "start");
    expect(start?.layers).toMatchObject({
      network: { state: "partly", missing: [], limits: [expect.stringContaining("kernel_pin")] },
    });
  });

  test("ends if a verdict of the proxy cannot be recorded", async () => {
    using server = answering(HELLO);
    // Room for the first records, and not for many more.
    const script = `${CURL} "http://localhost:${server.port}/$(printf '%03000d' 0)"; sleep 30`;
    const words = place.faradayWords(["sh", "-c", script], {
      flags: ["--allow-domain", "localhost"],
    }).words;
    const limited = ["sh", "-c", 'ulimit -f 4; exec "$@"', "sh", ...words];
    const kept = await place.bare(limited);
    expect(kept.exit).toBe(125);
    expect(kept.stderr).toContain("the audit log could not be written");
    expect(server.received).toEqual([]);
  });

  test("a flag with a mistake starts nothing, and shows the place", async () => {
    const kept = await place.faraday(["true"], { flags: ["--allow-domain", "http://a"] });
    expect(kept.exit).toBe(125);
    expect(kept.stderr).toContain("--> <command line>:1:16");
    expect(kept.stderr).toContain("a host has no scheme");
  });

  test("FARADAY_LOG=debug tells each verdict", async () => {
    using server = rawServer({ data: (socket) => void socket.write(HELLO) });
    const command = ["sh", "-c", `${CURL} http://localhost:${server.port}/x`];
    const kept = await place.faraday(command, {
      flags: ["--allow-domain", "localhost"],
      env: { PATH: "/usr/bin:/bin", FARADAY_LOG: "debug" },
    });
    expect(kept.stderr).toContain(`faraday: net allow GET localhost:${server.port}/x rule=`);
  });
});
