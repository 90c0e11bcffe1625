import type { HeaderField } from "./http-head.ts";

/**
 * The secret that the agent holds instead of real ones: it opens the proxy of this one run and
 * nothing else.
 */
export class SessionToken {
  readonly text: string;
  readonly #bytes: Buffer;

  constructor(text: string) {
    this.text = text;
    this.#bytes = Buffer.from(text);
  }

  static make(): SessionToken {
    return new SessionToken(crypto.getRandomValues(new Uint8Array(24)).toHex());
  }

  /** Takes as long for a nearly right one as for any other. */
  equals(text: string): boolean {
    const bytes = Buffer.from(text);
    let difference = bytes.length ^ this.#bytes.length;
    for (let i = 0; i < this.#bytes.length; i++) {
      difference |= (bytes[i] ?? 0) ^ (this.#bytes[i] ?? 0);
    }
    return difference === 0;
  }

  /** `Basic` with the token as password, or `Bearer`. */
  isIn(authorization: string): boolean {
    const [, scheme = "", value = ""] = /^(\S+) +(\S+)$/.exec(authorization) ?? [];
    switch (scheme.toLowerCase()) {
      case "bearer":
        return this.equals(value);
      case "basic": {
        const pair = Buffer.from(value, "base64").toString("latin1");
        // Clients differ in where they put a key: `token:`, `:token` or `user:token`.
        return (
          this.equals(pair.slice(pair.indexOf(":") + 1)) || this.equals(pair.split(":")[0] ?? "")
        );
      }
      default:
        return false;
    }
  }

  /** A header whose value is the token, whatever its name. */
  isHeldBy([name, value]: HeaderField): boolean {
    if (name.toLowerCase().endsWith("authorization")) return this.isIn(value) || this.equals(value);
    return this.equals(value);
  }

  /** For texts that are logged. */
  redact(text: string): string {
    return text.replaceAll(this.text, "{token}");
  }
}
