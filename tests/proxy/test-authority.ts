import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface TestAuthority {
  /** PEM files. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority and a server's certificate for these names, made with openssl. */
export function makeAuthority(directory: string, names: readonly string[]): TestAuthority {
  const at = (name: string): string => join(directory, name);
  const openssl = (...words: string[]): void => {
    const done = Bun.spawnSync(["openssl", ...words], { stdout: "pipe", stderr: "pipe" });
    if (!done.success) throw new Error(done.stderr.toString());
  };
  const fresh = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const [ca, caKey, cert, key] = ["ca.pem", "ca.key", "server.pem", "server.key"].map(at) as [
    string,
    string,
    string,
    string,
  ];
  openssl(
    ...["req", "-x509", ...fresh, "-keyout", caKey, "-out", ca, "-days", "2"],
    ...["-subj", "/CN=Test CA"],
  );
  openssl("req", ...fresh, "-keyout", key, "-out", at("server.csr"), "-subj", "/CN=server");
  const kind = (name: string): string => (/^[0-9.]+$|:/.test(name) ? "IP" : "DNS");
  const list = names.map((name) => `${kind(name)}:${name}`).join(",");
  writeFileSync(at("extensions"), `subjectAltName=${list}\n`);
  openssl(
    ...["x509", "-req", "-in", at("server.csr"), "-CA", ca, "-CAkey", caKey, "-CAcreateserial"],
    ...["-out", cert, "-days", "2", "-extfile", at("extensions")],
  );
  return { ca, cert, key };
}
