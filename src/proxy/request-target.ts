import { canonicalTarget, type NetTarget } from "../policy/network-judge.ts";
import { err, ok, type Result } from "../policy/result.ts";

/** Where a request line points; `path` holds the query. */
export type RequestTarget =
  | { readonly kind: "tunnel"; readonly target: NetTarget }
  | { readonly kind: "forward"; readonly target: NetTarget; readonly path: string }
  | { readonly kind: "route"; readonly path: string };

const AUTHORITY = /^(\[[^\]]*\]|[^:[\]]+)(?::([0-9]{1,5}))?$/;
const ABSOLUTE = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([/?][^#]*)?$/i;
const HTTP_PORT = 80;
const PORT_MAX = 65_535;

/** Reads the target of a request line; the error is a sentence. */
export function readTarget(
  method: string,
  text: string,
  ownPort: number,
): Result<RequestTarget, string> {
  if (method === "CONNECT") {
    const target = readAuthority(text, null);
    return target.ok ? ok({ kind: "tunnel", target: target.value }) : target;
  }
  if (text.startsWith("/")) {
    return text.includes("#")
      ? err("the target has a fragment")
      : ok({ kind: "route", path: text });
  }
  const parts = ABSOLUTE.exec(text);
  if (parts === null) return err("the target is neither a path nor a URL");
  const [, scheme = "", authority = "", rest = ""] = parts;
  if (scheme.toLowerCase() !== "http") return err("a proxy is asked for https through CONNECT");
  const target = readAuthority(authority, HTTP_PORT);
  if (!target.ok) return target;
  const path = rest.startsWith("/") ? rest : `/${rest}`;
  // A client that has no exception for loopback asks the proxy for the proxy.
  const { host, port } = target.value;
  const isOwn = port === ownPort && (host === "127.0.0.1" || host === "localhost");
  if (isOwn) return ok({ kind: "route", path });
  return ok({ kind: "forward", target: target.value, path });
}

function readAuthority(text: string, defaultPort: number | null): Result<NetTarget, string> {
  if (text.includes("@")) return err("the target has a user name");
  const parts = AUTHORITY.exec(text);
  const port = parts?.[2] === undefined ? defaultPort : Number(parts[2]);
  if (parts === null || port === null) return err("the target is not `host:port`");
  if (port < 1 || port > PORT_MAX) return err("the target has no valid port");
  const host = canonicalTarget(parts[1] ?? "");
  return host === null ? err("the target has no valid host") : ok({ host, port });
}
