import { describe, expect, test } from "bun:test";
import { readCliNetwork } from "../../src/policy/read-cli-network.ts";
import { parse, parsed, place } from "./policy-fixture.ts";

const ROUTE = '[network.routes.x]\nupstream = "https://a.example"\n';

const network = (text: string) => {
  const found = parsed(text).policy.network;
  if (found === null) throw new Error("no network");
  return found;
};

describe("a [network] table", () => {
  test("that is not there means no network layer", () => {
    const { policy } = parsed('[meta]\ndefault_action = "allow"\n');
    expect(policy.network).toBeNull();
    expect(policy.credentials).toEqual([]);
  });

  test("has strict defaults", () => {
    expect(network("[network]\n")).toEqual({
      allowedHosts: [],
      deniedHosts: [],
      kernelPin: false,
      allowedLocalPorts: [],
      allowedBindPorts: [],
      unixSockets: null,
      checkSni: true,
      blockAll: false,
      requireEnforced: true,
      routes: [],
    });
  });

  test("keeps every setting, and knows where each host stands", () => {
    const found = network(`[network]
allowed_hosts = ["api.example", "*.b.example:8443", "10.0.0.0/8", "[::1]:80", "fd00::/8"]
denied_hosts = "x.example"
kernel_pin = true
allowed_local_ports = [5432, 6379]
allowed_bind_ports = [3000]
unix_sockets = ["~/agent.sock"]
check_sni = false
require_enforced = false
`);
    expect(found.allowedHosts.map(({ host }) => host)).toEqual([
      ...["api.example", "*.b.example:8443", "10.0.0.0/8", "[::1]:80", "fd00::/8"],
    ]);
    expect(found.allowedHosts[1]?.span).toMatchObject({ line: 2, column: 33 });
    expect(found.deniedHosts.map(({ host }) => host)).toEqual(["x.example"]);
    expect(found).toMatchObject({
      kernelPin: true,
      allowedLocalPorts: [5432, 6379],
      allowedBindPorts: [3000],
      unixSockets: [{ glob: "/home/ann/agent.sock" }],
      checkSni: false,
      requireEnforced: false,
    });
  });

  test("adds its lists to those of its bases; its settings and routes replace theirs", () => {
    const base = `[network]
allowed_hosts = ["base.example"]
kernel_pin = true
check_sni = false
[network.routes.x]
upstream = "https://base.example"
[network.routes.y]
upstream = "https://base.example"
[credentials.k]
env = "BASE"
`;
    const text = `extends = ["base"]
[network]
allowed_hosts = ["own.example"]
check_sni = true
${ROUTE}[credentials.k]
env = "OWN"
`;
    const { policy } = parsed(text, { bases: { base } });
    expect(policy.network?.allowedHosts.map(({ host }) => host)).toEqual([
      "own.example",
      "base.example",
    ]);
    expect(policy.network).toMatchObject({ kernelPin: true, checkSni: true });
    expect(policy.network?.routes.map(({ name, upstream }) => [name, upstream])).toEqual([
      ["x", "https://a.example"],
      ["y", "https://base.example"],
    ]);
    expect(policy.credentials).toMatchObject([{ source: { kind: "env", name: "OWN" } }]);
  });
});

describe("a route", () => {
  test("has its upstream in one spelling, and needs nothing else", () => {
    const [route] = network(
      '[network.routes.x]\nupstream = "https://API.Example:443/v1//x/"\n',
    ).routes;
    expect(route).toMatchObject({
      name: "x",
      upstream: "https://api.example/v1/x",
      credentialKey: null,
      inject: null,
      endpointRules: [],
      env: [],
    });
  });

  test.each([
    ["", { mode: "header", header: "Authorization", format: "Bearer {}" }],
    ['inject_header = "x-api-key"', { mode: "header", header: "x-api-key", format: "{}" }],
    ['inject_format = "token {}"', { mode: "header", header: "Authorization", format: "token {}" }],
    ['inject_mode = "query"\ninject_param = "key"', { mode: "query", param: "key" }],
    ['inject_mode = "path"\ninject_format = "/bot{}"', { mode: "path", format: "/bot{}" }],
    ['inject_mode = "basic"', { mode: "basic", format: "{}" }],
    ['inject_mode = "basic"\ninject_format = "me:{}"', { mode: "basic", format: "me:{}" }],
  ] as const)("with a credential and %j injects it so", (lines, inject) => {
    const [route] = network(`${ROUTE}credential_key = "k"\n${lines}\n`).routes;
    expect(route).toMatchObject({ credentialKey: "k", inject });
  });

  test("has endpoint rules in the spelling in which requests are compared, and variables", () => {
    const rules =
      '[{ method = "POST", path = "/v1//%63hat" }, { method = "*", path = "/a/*/b/**" }]';
    const env = '{ URL = "{url}", KEY = "{token}" }';
    const [route] = network(`${ROUTE}endpoint_rules = ${rules}\nenv = ${env}\n`).routes;
    expect(route?.endpointRules.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /v1/chat",
      "* /a/*/b/**",
    ]);
    expect(route?.env).toEqual([
      { name: "URL", value: "{url}" },
      { name: "KEY", value: "{token}" },
    ]);
  });
});

test("credentials come from a variable, a file or a command", () => {
  const text = `[network]
[credentials.a]
env = "A_KEY"
[credentials.b]
file = "~/b.key"
[credentials.c]
command = ["pass", "show", "c d"]
`;
  expect(parsed(text).policy.credentials.map(({ key, source }) => [key, source])).toEqual([
    ["a", { kind: "env", name: "A_KEY" }],
    ["b", { kind: "file", path: "/home/ann/b.key" }],
    ["c", { kind: "command", argv: ["pass", "show", "c d"] }],
  ]);
});

test.each([
  ['[network]\nallowed_host = ["a"]', "unknown-key p.toml:2:1+12", "`allowed_hosts`"],
  ['[network]\nallowed_hosts = ["https://a.example"]', "bad-host p.toml:2:18+19", "a name"],
  ['[network]\nallowed_hosts = ["a.example/x"]', "bad-host p.toml:2:18+13", "a name"],
  ['[network]\nallowed_hosts = ["a.*.example"]', "bad-host p.toml:2:18+13", "a name"],
  ['[network]\nallowed_hosts = ["*"]', "bad-host p.toml:2:18+3", "a name"],
  ['[network]\nallowed_hosts = ["a.example:0"]', "bad-host p.toml:2:18+13", "a name"],
  ['[network]\nallowed_hosts = ["10.0.0.0/33"]', "bad-host p.toml:2:18+13", "a name"],
  ['[network]\nallowed_hosts = [""]', "bad-host p.toml:2:18+2", "a name"],
  ['[network]\nallowed_hosts = ["169.254.169.254"]', "bad-host p.toml:2:18+17", "remove it"],
  ['[network]\nallowed_hosts = ["0xa9fea9fe"]', "bad-host p.toml:2:18+12", "remove it"],
  ["[network]\nallowed_hosts = [1]", "wrong-type p.toml:2:18+1", null],
  ["[network]\nallowed_local_ports = [0]", "bad-value p.toml:2:24+1", null],
  ['[network]\nallowed_local_ports = ["80"]', "wrong-type p.toml:2:24+4", null],
  ["[network]\nkernel_pin = 1", "wrong-type p.toml:2:14+1", null],
  ['[network]\nunix_sockets = ["/a/../b"]', "bad-glob p.toml:2:17+9", "write the path"],
  ["[network]\nroutes = 1", "wrong-type p.toml:2:10+1", "[network.routes.NAME]"],
  ["[network.routes.x]", "missing-key p.toml:1:17+1", "upstream ="],
  ['[network.routes."a b"]\nupstream = "https://a"', "bad-value p.toml:1:17+5", "letters"],
  ['[network.routes.x]\nupstream = "ftp://a"', "bad-value p.toml:2:12+9", "https://host"],
  ['[network.routes.x]\nupstream = "https://u@a"', "bad-value p.toml:2:12+13", "https://host"],
  ['[network.routes.x]\nupstream = "https://a?b"', "bad-value p.toml:2:12+13", "https://host"],
  [`${ROUTE}inject_mode = "header"`, "bad-value p.toml:3:1+11", null],
  [`${ROUTE}credential_key = "k"\ninject_mode = "heder"`, "bad-value p.toml:4:15+7", '"header"'],
  [
    `${ROUTE}credential_key = "k"\ninject_mode = "query"`,
    "missing-key p.toml:1:17+1",
    "inject_param",
  ],
  [`${ROUTE}credential_key = "k"\ninject_format = "x"`, "bad-value p.toml:4:17+3", "`{}`"],
  [`${ROUTE}credential_key = "k"\ninject_header = "Host"`, "bad-value p.toml:4:17+6", "x-api-key"],
  [`${ROUTE}credential_key = "k"\ninject_param = "x"`, "bad-value p.toml:4:1+12", "header has"],
  [`${ROUTE}endpoint_rules = ["GET /"]`, "wrong-type p.toml:3:19+7", "method ="],
  [
    `${ROUTE}endpoint_rules = [{ method = "get", path = "/" }]`,
    "bad-value p.toml:3:30+5",
    'did you mean "GET"?',
  ],
  [
    `${ROUTE}endpoint_rules = [{ method = "GET", path = "/a*" }]`,
    "bad-value p.toml:3:44+5",
    "one segment",
  ],
  [`${ROUTE}endpoint_rules = [{ method = "GET" }]`, "missing-key p.toml:3:19+18", "any path"],
  [`${ROUTE}env = "X"`, "wrong-type p.toml:3:7+3", "{url}"],
  [`${ROUTE}env = { "a-b" = "x" }`, "bad-value p.toml:3:9+5", null],
  ["[network]\n[credentials.k]", "missing-key p.toml:2:14+1", "exactly one"],
  [
    '[network]\n[credentials.k]\nenv = "A"\nfile = "/b"',
    "missing-key p.toml:2:14+1",
    "exactly one",
  ],
  ['[network]\n[credentials.k]\nenv = "$A"', "bad-value p.toml:3:7+4", "without `$`"],
  ['[network]\n[credentials.k]\nfile = "k"', "bad-value p.toml:3:8+3", "whole path"],
  ['[network]\n[credentials.k]\ncommand = "pass k"', "wrong-type p.toml:3:11+8", "words apart"],
  ["[network]\n[credentials]\nk = 1", "wrong-type p.toml:3:5+1", "[credentials.k]"],
] as const)("%j is reported as %s", (text, at, hint) => {
  const result = parse(text);
  const errors = result.ok ? [] : result.error;
  expect(errors.map(place)).toEqual([at]);
  if (hint === null) return;
  expect(errors[0]?.hint).toContain(hint);
});

describe("the flags of the command line", () => {
  const context = { env: () => undefined, home: undefined };
  const NONE = { blockNet: false, allowDomains: [], denyDomains: [], allowEndpoints: [] };
  const policy = network(`[network]
allowed_hosts = ["toml.example"]
${ROUTE}endpoint_rules = [{ method = "GET", path = "/a" }]
`);

  test("that are not there leave the policy as it is", () => {
    expect(readCliNetwork(NONE, null, context)).toEqual({ ok: true, value: null });
    expect(readCliNetwork(NONE, policy, context)).toEqual({ ok: true, value: policy });
  });

  test("stand before what the policy says", () => {
    const flags = {
      blockNet: true,
      allowDomains: ["cli.example"],
      denyDomains: ["*.bad.example"],
      allowEndpoints: ["x:POST:/b/**"],
    };
    const result = readCliNetwork(flags, policy, context);
    if (!result.ok || result.value === null) throw new Error("no network");
    const { allowedHosts, deniedHosts, blockAll, routes } = result.value;
    expect(allowedHosts.map(({ host }) => host)).toEqual(["cli.example", "toml.example"]);
    expect(deniedHosts.map(({ host }) => host)).toEqual(["*.bad.example"]);
    expect(blockAll).toBe(true);
    expect(routes.map(({ endpointRules }) => endpointRules.map(({ path }) => path))).toEqual([
      ["/b/**", "/a"],
    ]);
  });

  test.each([
    [{ allowDomains: ["http://x"] }, "bad-host <command line>:1:16+8"],
    [{ allowDomains: ["ok.example"], denyDomains: ["a b"] }, "bad-host <command line>:2:15+3"],
    [{ allowEndpoints: ["x:GET"] }, "bad-value <command line>:1:18+5"],
    [{ allowEndpoints: ["y:GET:/"] }, "bad-value <command line>:1:18+7"],
    [{ allowEndpoints: ["x:get:/"] }, "bad-value <command line>:1:18+7"],
    [{ allowEndpoints: ["x:GET:a"] }, "bad-value <command line>:1:18+7"],
  ])("%j is reported as %s", (flags, at) => {
    const result = readCliNetwork({ ...NONE, ...flags }, policy, context);
    expect(result.ok ? [] : result.error.map(place)).toEqual([at]);
  });
});
