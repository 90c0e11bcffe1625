/** Real clients through the proxy of a real run; every server is on loopback. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeAuthority } from "../proxy/test-authority.ts";
import { type FaradayOutcome, Workplace } from "./faraday-run.ts";
import { PYTHON } from "./test-programs.ts";

const place = new Workplace();
const authority = makeAuthority(place.path, ["localhost", "127.0.0.1"]);
const tls = { cert: readFileSync(authority.cert), key: readFileSync(authority.key) };

/** Serves a directory, and a few answers of its own. */
const serveFiles = (options: { readonly tls?: typeof tls } = {}) =>
  Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    ...options,
    async fetch(request, server) {
      const { pathname } = new URL(request.url);
      if (pathname === "/hello") return new Response("hello");
      if (pathname === "/echo") return new Response(await request.arrayBuffer());
      if (pathname === "/ws" && server.upgrade(request)) return undefined;
      if (pathname.startsWith("/v1/")) return messages(request);
      const file = Bun.file(join(place.path, "served", pathname));
      const index = Bun.file(join(place.path, "served", pathname, "index.html"));
      if (await file.exists()) return new Response(file);
      if (await index.exists()) return new Response(index);
      return new Response("not found", { status: 404 });
    },
    websocket: { message: (socket, message) => void socket.send(`echo ${message}`) },
  });

/** A model's streamed answer, if the real key came with the request. */
function messages(request: Request): Response {
  if (request.headers.get("x-api-key") !== "sk-real") return new Response("no", { status: 401 });
  const stream = new ReadableStream({
    async start(controller) {
      for (const word of ["one", "two", "three"]) {
        controller.enqueue(`data: {"text":"${word}"}\n\n`);
        await Bun.sleep(5);
      }
      controller.close();
    },
  });
  return new Response(stream, { headers: { "content-type": "text/event-stream" } });
}

const plain = serveFiles();
const secure = serveFiles({ tls });
afterAll(() => {
  plain.stop(true);
  secure.stop(true);
  place[Symbol.dispose]();
});

const ENV = { PATH: Bun.env.PATH ?? "/usr/bin:/bin", HOME: place.path, LANG: "C.UTF-8" };
const HTTP = `http://localhost:${plain.port}`;
const HTTPS = `https://localhost:${secure.port}`;

/** Runs a script with loopback not excepted from the proxy. */
function run(script: string, flags: readonly string[] = ["--allow-domain", "localhost"]) {
  const policy = '[meta]\ndefault_action = "allow"\n';
  return place.faraday(["sh", "-c", `unset NO_PROXY no_proxy\n${script}`], {
    policy,
    flags,
    env: ENV,
  });
}

/** What the proxy saw: `CONNECT localhost allow`. */
const seen = ({ records }: FaradayOutcome): readonly string[] =>
  records
    .filter(({ event }) => event === "net")
    .map(({ method, host, action }) => `${method} ${host} ${action}`);

describe("curl", () => {
  test("speaks http, https in a tunnel, and http in a tunnel", async () => {
    const ca = `--cacert ${authority.ca}`;
    const kept = await run(
      `curl -sS ${HTTP}/hello; curl -sS ${ca} ${HTTPS}/hello; curl -sS -p ${HTTP}/hello`,
    );
    expect([kept.stdout, kept.exit]).toEqual(["hellohellohello", 0]);
    expect(seen(kept)).toEqual([
      "GET localhost allow",
      "CONNECT localhost allow",
      "CONNECT localhost allow",
    ]);
  });

  test("uploads with Expect and in chunks, and gets back what it sent", async () => {
    const file = place.write("upload", "0123456789".repeat(200_000));
    const ways = [`-H 'Expect: 100-continue'`, `-H 'Transfer-Encoding: chunked'`, "-0"];
    const script = ways.map((way) => `curl -sS ${way} -T ${file} -X POST ${HTTP}/echo | cksum`);
    const kept = await run(script.join("\n"));
    const { stdout } = await place.bare(["sh", "-c", `cksum < ${file}`]);
    expect(kept.stdout).toBe(stdout.repeat(ways.length));
  });

  test("is told why it is refused, in a tunnel too", async () => {
    const kept = await run(`curl -sS -v ${HTTPS}/hello`, ["--allow-domain", "a.example"]);
    expect(kept.exit).toBe(56);
    expect(kept.stderr).toContain(
      "HTTP/1.1 403 Forbidden: faraday: localhost is not in allowed_hosts",
    );
  });

  test("that does not bring the token is refused", async () => {
    const script = `unset http_proxy HTTP_PROXY all_proxy ALL_PROXY
proxy=$(echo $https_proxy | sed 's/faraday:[^@]*@//'); curl -sS -x $proxy ${HTTP}/hello`;
    const kept = await run(script);
    expect(kept.stdout).toContain("the proxy's session token is missing");
    expect(seen(kept)).toEqual(["GET localhost deny"]);
  });
});

test("git clones over https", async () => {
  const repository = place.at("served/repo.git");
  const commit = "git -c user.name=a -c user.email=a@b commit -qm first";
  const made = await place.bare(
    [
      "sh",
      "-c",
      `set -e; git init -q source; cd source; echo content > file; git add file; ${commit}
mkdir -p ../served; git clone -q --bare . ${repository}; git -C ${repository} update-server-info`,
    ],
    { env: ENV },
  );
  expect(made.stderr).toBe("");
  const clone = `GIT_SSL_CAINFO=${authority.ca} git clone -q ${HTTPS}/repo.git`;
  const kept = await run(`${clone} copy && cat copy/file`);
  expect(kept.stdout).toBe("content\n");
  expect(seen(kept)).toContain("CONNECT localhost allow");
  const refused = await run(`${clone} refused`, ["--allow-domain", "a.example"]);
  expect(refused.exit).toBe(128);
  expect(seen(refused)).toContain("CONNECT localhost deny");
}, 60_000);

test("npm installs from a registry", async () => {
  mkdirSync(place.at("served/tiny/-"), { recursive: true });
  const packed = await place.bare(
    [
      "sh",
      "-c",
      `set -e; mkdir -p tiny; cd tiny; printf '{"name":"tiny","version":"1.0.0"}' > package.json
echo 'module.exports = 42' > index.js; npm pack --silent --offline
mv tiny-1.0.0.tgz ../served/tiny/-/; openssl dgst -sha1 -r ../served/tiny/-/tiny-1.0.0.tgz`,
    ],
    { env: ENV },
  );
  const shasum = packed.stdout.trim().split("\n").at(-1)?.split(" ")[0] ?? "";
  const dist = { tarball: `${HTTP}/tiny/-/tiny-1.0.0.tgz`, shasum };
  const versions = { "1.0.0": { name: "tiny", version: "1.0.0", dist } };
  const index = { name: "tiny", "dist-tags": { latest: "1.0.0" }, versions };
  place.write("served/tiny/index.html", JSON.stringify(index));
  const install = `npm install --registry ${HTTP}/ --no-audit --no-fund --silent tiny`;
  const kept = await run(`mkdir -p project; cd project; ${install}; node -p 'require("tiny")'`);
  expect(kept.stdout).toContain("42\n");
  expect(seen(kept).every((line) => line.endsWith("localhost allow"))).toBe(true);
  expect(seen(kept).length).toBeGreaterThanOrEqual(2);
}, 60_000);

test("pip installs from an index", async () => {
  mkdirSync(place.at("served/simple/tinypy"), { recursive: true });
  const wheel = "tinypy-1.0-py3-none-any.whl";
  const make = `import zipfile
z = zipfile.ZipFile("served/simple/tinypy/${wheel}", "w")
z.writestr("tinypy.py", "answer = 42\\n")
d = "tinypy-1.0.dist-info/"
z.writestr(d + "METADATA", "Metadata-Version: 2.1\\nName: tinypy\\nVersion: 1.0\\n")
z.writestr(d + "WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\n"
  "Root-Is-Purelib: true\\nTag: py3-none-any\\n")
z.writestr(d + "RECORD", "tinypy.py,,\\n"
  + d + "METADATA,,\\n" + d + "WHEEL,,\\n" + d + "RECORD,,\\n")
z.close()`;
  expect((await place.bare([PYTHON, "-c", make])).stderr).toBe("");
  place.write("served/simple/tinypy/index.html", `<a href="${wheel}">${wheel}</a>`);
  const quiet = "-q --disable-pip-version-check --no-cache-dir --retries 0";
  const install = `${PYTHON} -m pip install ${quiet}`;
  const index = `--index-url ${HTTP}/simple/ --trusted-host localhost`;
  const kept = await run(
    `${install} ${index} --target lib tinypy; PYTHONPATH=lib ${PYTHON} -c ` +
      "'import tinypy; print(tinypy.answer)'",
  );
  expect(kept.stdout).toContain("42\n");
  expect(seen(kept)).toContain("GET localhost allow");
}, 60_000);

describe("Python's", () => {
  const python = (code: string) => run(`${PYTHON} -c '${code}'`);

  test("urllib reads through the proxy", async () => {
    const kept = await python(`
import ssl, urllib.request
print(urllib.request.urlopen("${HTTP}/hello").read().decode())
context = ssl.create_default_context(cafile="${authority.ca}")
print(urllib.request.urlopen("${HTTPS}/hello", context=context).read().decode())`);
    expect(kept.stdout).toBe("hello\nhello\n");
    expect(seen(kept)).toEqual(["GET localhost allow", "CONNECT localhost allow"]);
  });

  test("requests keeps its connection for several requests", async () => {
    const kept = await python(`
import requests
session = requests.Session()
for i in range(3): print(session.get("${HTTP}/hello").text)
print(session.post("${HTTP}/echo", data=b"a body").text)
print(session.get("${HTTPS}/hello", verify="${authority.ca}").text)`);
    expect(kept.stderr).toBe("");
    expect(kept.stdout).toBe("hello\nhello\nhello\na body\nhello\n");
    expect(seen(kept)).toHaveLength(5);
  });

  test("aiohttp reads, and speaks over a WebSocket", async () => {
    const kept = await python(`
import aiohttp, asyncio, os
async def main():
    async with aiohttp.ClientSession(trust_env=True) as session:
        async with session.get("${HTTP}/hello") as answer: print(await answer.text())
        async with session.ws_connect("${HTTP}/ws", proxy=os.environ["HTTP_PROXY"]) as ws:
            await ws.send_str("hi")
            print((await ws.receive()).data)
asyncio.run(main())`);
    expect(kept.stderr).toBe("");
    expect(kept.stdout).toBe("hello\necho hi\n");
    expect(seen(kept)).toEqual(["GET localhost allow", "GET localhost allow"]);
  });
});

test("undici's fetch goes through the proxy that the environment names", async () => {
  const undici = join(import.meta.dir, "../../node_modules/undici");
  const script = place.write(
    "fetch.cjs",
    `const { EnvHttpProxyAgent, fetch, setGlobalDispatcher } = require(${JSON.stringify(undici)});
setGlobalDispatcher(new EnvHttpProxyAgent());
(async () => {
  console.log(await (await fetch("${HTTP}/hello")).text());
  console.log(await (await fetch("${HTTPS}/echo", { method: "POST", body: "secure" })).text());
})();`,
  );
  const kept = await run(`NODE_EXTRA_CA_CERTS=${authority.ca} node --no-warnings ${script}`);
  expect(kept.stdout).toBe("hello\nsecure\n");
  expect(seen(kept).every((line) => line.endsWith("localhost allow"))).toBe(true);
});

test("an agent with a route streams its answer, and never holds the key", async () => {
  const agent = place.write(
    "agent.py",
    `import json, os, urllib.request
request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
    data=b"{}", headers={"x-api-key": os.environ["ANTHROPIC_API_KEY"]})
for line in urllib.request.urlopen(request):
    if line.startswith(b"data: "): print(json.loads(line[6:])["text"])
assert "sk-real" not in str(os.environ)`,
  );
  const policy = `[meta]
default_action = "allow"

[network.routes.anthropic]
upstream = "${HTTPS}"
credential_key = "anthropic"
inject_header = "x-api-key"
endpoint_rules = [{ method = "POST", path = "/v1/messages" }]
env = { ANTHROPIC_BASE_URL = "{url}", ANTHROPIC_API_KEY = "{token}" }
`;
  const env = { ...ENV, ANTHROPIC_API_KEY: "sk-real", NODE_EXTRA_CA_CERTS: authority.ca };
  const kept = await place.faraday([PYTHON, agent], { policy, env });
  expect(kept.stderr).toBe("");
  expect(kept.stdout).toBe("one\ntwo\nthree\n");
  expect(kept.records.find(({ event }) => event === "net")).toMatchObject({
    route: "anthropic",
    method: "POST",
    path: "/v1/messages",
    rule_id: "route:anthropic",
  });
  // Without the authority's certificate the upstream is not who it says it is.
  const { NODE_EXTRA_CA_CERTS: _, ...strange } = env;
  const refused = await place.faraday([PYTHON, agent], { policy, env: strange });
  expect(refused.stderr).toContain("HTTP Error 502");
});
