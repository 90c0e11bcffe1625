import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FARADAY } from "./measure.ts";
import { ProxyClient } from "./proxy-client.ts";

/** Somebody to send requests through, or (without a process) the origin itself. */
export interface Contestant {
  readonly name: string;
  readonly port: number;
  /** Header lines that it wants with every request. */
  readonly auth: string;
  readonly process: Bun.Subprocess | null;
}

interface Peer {
  readonly name: string;
  /** Writes its configuration into its own directory and says how it is started. */
  readonly command: (program: string, place: string, ports: Ports) => readonly string[];
}

interface Ports {
  readonly own: number;
  readonly origin: number;
}

const READY_MS = 20_000;
const READY_STEP_MS = 50;
/** As many as an agent's policy may have; the origin is the last of them. */
const HOSTS = 20;

/** Each in one process, with a log of its requests, as Faraday has. Nothing is cached. */
const PEERS: readonly Peer[] = [
  {
    name: "squid",
    command: (program, place, { own, origin }) => {
      const file = join(place, "squid.conf");
      writeFileSync(file, squidConfig(place, own, origin));
      return [program, "-N", "-f", file];
    },
  },
  {
    name: "tinyproxy",
    command: (program, place, { own }) => {
      const file = join(place, "tinyproxy.conf");
      writeFileSync(file, tinyproxyConfig(own));
      return [program, "-d", "-c", file];
    },
  },
  {
    name: "haproxy",
    command: (program, place, { own, origin }) => {
      const file = join(place, "haproxy.cfg");
      writeFileSync(file, haproxyConfig(own, origin));
      return [program, "-db", "-f", file];
    },
  },
];

const squidConfig = (place: string, own: number, origin: number): string => `
http_port 127.0.0.1:${own}
pid_filename ${place}/squid.pid
access_log stdio:${place}/access.log
cache_log ${place}/cache.log
coredump_dir ${place}
cache deny all
acl target dst 127.0.0.1
acl target_port port ${origin}
http_access allow target target_port
http_access deny all
max_filedescriptors 8192
pinger_enable off
shutdown_lifetime 0 seconds
`;

const tinyproxyConfig = (own: number): string => `
Listen 127.0.0.1
Port ${own}
Timeout 600
MaxClients 4000
LogLevel Critical
Allow 127.0.0.1
`;

/** It cannot end a CONNECT itself: it reads each request and hands it on to the origin. */
const haproxyConfig = (own: number, origin: number): string => `
global
  maxconn 4000
  log stdout format raw local0
defaults
  mode http
  log global
  option httplog
  option splice-auto
  timeout connect 10s
  timeout client 600s
  timeout server 600s
  timeout tunnel 600s
frontend front
  bind 127.0.0.1:${own}
  default_backend back
backend back
  server origin 127.0.0.1:${origin}
`;

/** The contestants that can be had here: the origin itself, Faraday, and what is installed. */
export async function startContestants(
  place: string,
  origin: number,
  progress: (text: string) => void,
): Promise<readonly Contestant[]> {
  const direct: Contestant = { name: "direct", port: origin, auth: "", process: null };
  const started: Contestant[] = [direct];
  try {
    started.push(await startFaraday(place, origin));
    for (const peer of PEERS) {
      const program = Bun.which(peer.name, { PATH: "/usr/sbin:/usr/bin:/usr/local/sbin:/sbin" });
      if (program === null) progress(`network: ${peer.name} is not installed, so it is left out`);
      else started.push(await startPeer(peer, program, place, origin));
    }
    return started;
  } catch (error) {
    await stopContestants(started);
    throw error;
  }
}

export async function stopContestants(contestants: readonly Contestant[]): Promise<void> {
  for (const { process } of contestants) {
    process?.kill("SIGTERM");
    if (process !== null) await Promise.race([process.exited, Bun.sleep(5_000)]);
    process?.kill("SIGKILL");
  }
}

/** The proxy of a run whose command says where it is, and waits. */
async function startFaraday(place: string, origin: number): Promise<Contestant> {
  const policy = join(place, "network.toml");
  const others = Array.from({ length: HOSTS - 1 }, (_, n) => `"*.example-${n}.com"`);
  writeFileSync(
    policy,
    `[meta]\nversion = 1\ndefault_action = "allow"\n\n[network]\n` +
      `allowed_hosts = [${others.join(", ")}, "127.0.0.1"]\n`,
  );
  const command = ["/bin/sh", "-c", 'echo "$HTTP_PROXY"; read -r _'];
  const audit = join(place, "network.jsonl");
  const child = Bun.spawn(
    [FARADAY, "run", "--policy", policy, "--audit", audit, "--", ...command],
    {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  const { value } = await child.stdout.getReader().read();
  const url = new URL(new TextDecoder().decode(value).trim());
  const auth = `Proxy-Authorization: Basic ${btoa(`${url.username}:${url.password}`)}\r\n`;
  const port = Number(url.port);
  await ready("faraday", port, origin, auth);
  return { name: "faraday", port, auth, process: child };
}

async function startPeer(
  { name, command }: Peer,
  program: string,
  place: string,
  origin: number,
): Promise<Contestant> {
  const own = join(place, name);
  mkdirSync(own);
  // Squid gives up root, and must still find its way to its logs.
  chmodSync(place, 0o711);
  chmodSync(own, 0o777);
  const port = freePort();
  const words = command(program, own, { own: port, origin });
  const log = Bun.file(join(own, "output"));
  const child = Bun.spawn([...words], { stdin: "ignore", stdout: log, stderr: log });
  try {
    await ready(name, port, origin, "");
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  return { name, port, auth: "", process: child };
}

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

/** Waits until a whole request has gone through. */
async function ready(name: string, port: number, origin: number, auth: string): Promise<void> {
  let last: unknown;
  for (let waitedMs = 0; waitedMs < READY_MS; waitedMs += READY_STEP_MS) {
    try {
      const client = await ProxyClient.to(port);
      await client.ask(getHead(origin, 1, auth), 1);
      client.close();
      return;
    } catch (error) {
      last = error;
      await Bun.sleep(READY_STEP_MS);
    }
  }
  throw new Error(`${name} does not serve: ${String(last)}`);
}

export const connectHead = (origin: number, auth: string): string =>
  `CONNECT 127.0.0.1:${origin} HTTP/1.1\r\nHost: 127.0.0.1:${origin}\r\n${auth}\r\n`;

/** Absolute, as a proxy is asked; the origin takes it as well. */
export const getHead = (origin: number, bytes: number, auth: string): string =>
  `GET http://127.0.0.1:${origin}/bytes/${bytes} HTTP/1.1\r\nHost: 127.0.0.1:${origin}\r\n` +
  `User-Agent: bench/1.0\r\nAccept: */*\r\n${auth}\r\n`;
