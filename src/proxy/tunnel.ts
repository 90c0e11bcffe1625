import { addressOf } from "../policy/host-rule.ts";
import { canonicalTarget, type NetTarget } from "../policy/network-judge.ts";
import { HELLO_BYTES_MAX, readClientHello } from "./client-hello.ts";
import { joinLegs, type Leg } from "./leg.ts";

export interface TunnelOptions {
  readonly client: Leg;
  readonly upstream: Leg;
  readonly target: NetTarget;
  readonly checkSni: boolean;
  /** What the client sent behind its CONNECT. */
  readonly early: Buffer;
  /** The name in the handshake is not that of the CONNECT. */
  readonly refused: (reason: string) => void;
  readonly done: (error: string | null) => void;
}

const TLS_PORT = 443;
const ESTABLISHED = Buffer.from("HTTP/1.1 200 Connection established\r\n\r\n");
/** A fatal alert, access_denied: what a TLS client understands of a refusal. */
const ALERT = Buffer.from([21, 3, 3, 0, 2, 2, 49]);

/** Answers a CONNECT and carries its bytes, once the handshake in them names the right host. */
export function openTunnel(options: TunnelOptions): void {
  const { client, upstream, target, early, done } = options;
  client.write(ESTABLISHED);
  const join = (first: Buffer): void => {
    if (first.length > 0) upstream.write(first);
    joinLegs(client, upstream, () => done(null));
  };
  if (!options.checkSni || target.port !== TLS_PORT) {
    join(early);
    return;
  }
  let hello = early;
  let isOver = false;
  const end = (error: string): void => {
    if (isOver) return;
    isOver = true;
    upstream.destroy();
    client.close();
    done(error);
  };
  const look = (): void => {
    const problem = helloProblem(hello, target.host);
    if (problem === "more") return;
    if (problem === null) {
      isOver = true;
      join(hello);
      return;
    }
    options.refused(problem);
    client.write(ALERT);
    end(problem);
  };
  const gone = (): void => end("it ended before its handshake");
  // Not a byte passes in either direction before the name is known.
  upstream.pause();
  upstream.listener = { data: () => {}, end: () => {}, drained: () => {}, closed: gone };
  client.listener = {
    data: (bytes) => {
      hello = Buffer.concat([hello, bytes]);
      look();
    },
    end: gone,
    drained: () => {},
    closed: gone,
  };
  client.resume();
  if (hello.length > 0) look();
  // Its end may have come before anybody listened for it.
  if (client.hasEnded) gone();
}

/** `more` if it is not all there, null if it is as it should be. */
function helloProblem(bytes: Buffer, host: string): "more" | string | null {
  if (bytes.length === 0) return "more";
  const reading = readClientHello(bytes);
  switch (reading.kind) {
    case "more":
      return bytes.length > HELLO_BYTES_MAX ? "the TLS handshake is too large" : "more";
    case "not-tls":
      return `what is sent to port ${TLS_PORT} is no TLS handshake`;
    case "hello": {
      const isAddress = addressOf(host) !== null;
      if (reading.name === null) return isAddress ? null : "the TLS handshake names no host";
      if (canonicalTarget(reading.name) === host) return null;
      return `the TLS handshake is for ${reading.name}, the tunnel for ${host}`;
    }
    default:
      return reading satisfies never;
  }
}
