import { err, ok, type Result } from "../policy/result.ts";

/** The addresses of a name; the error is a sentence. A parameter, so that tests bring their own. */
export type Resolve = (name: string) => Promise<Result<readonly string[], string>>;

const LOCALHOST = /(?:^|\.)localhost$/;

/**
 * Asks c-ares, which has threads of its own: lookups through the C library share a pool with all
 * file reads, and 64 names that hang would stop them. It reads /etc/hosts as well.
 */
export function systemResolver(timeoutMs: number): Resolve {
  /** Many connections to one name at once need one lookup. */
  const underway = new Map<string, Promise<Result<readonly string[], string>>>();
  return (name) => {
    if (LOCALHOST.test(name)) return Promise.resolve(ok(["127.0.0.1", "::1"]));
    const known = underway.get(name);
    if (known !== undefined) return known;
    const lookup = lookUp(name, timeoutMs).finally(() => underway.delete(name));
    underway.set(name, lookup);
    return lookup;
  };
}

async function lookUp(name: string, timeoutMs: number): Promise<Result<readonly string[], string>> {
  let timer: Timer | undefined;
  const late = new Promise<Result<never, string>>((resolve) => {
    timer = setTimeout(() => resolve(err("the name servers did not answer in time")), timeoutMs);
  });
  try {
    const found = Bun.dns.lookup(name, { backend: "c-ares" }).then((answers) => {
      const addresses = [...new Set(answers.map(({ address }) => address))];
      return addresses.length === 0 ? err("it has no address") : ok(addresses);
    });
    return await Promise.race([found, late]);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return err(code === "DNS_ENOTFOUND" ? "there is no such name" : `the lookup failed (${code})`);
  } finally {
    clearTimeout(timer);
  }
}
