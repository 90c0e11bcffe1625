/**
 * The hosts of the http(s) URLs in an argument list. Programs disagree on what a URL's host is
 * (`https://good\@evil`, `http://good#@evil`, `https:evil`), and an argument may hold a URL
 * anywhere (`--url=https://…`, a quoted one in a `bash -c` script). So each URL is read in every
 * way that some parser in use reads it; who asks decides whether all readings count or any.
 */
import { canonicalHost } from "./host-name.ts";

export interface UrlHosts {
  /** One entry a URL: the canonical hosts that its readings give, without repetition. */
  readonly urls: readonly (readonly string[])[];
  /** Some reading gives no host that could be compared; so do URLs that were not looked at. */
  readonly unreadable: boolean;
  /** There were more URLs than are looked at. */
  readonly truncated: boolean;
}

/** An agent may fill 2 MiB with URLs; beyond this many the rest is not looked at, and it shows. */
const URLS_MAX = 10_000;
/** No host is longer than 253; the rest is room for a user name. */
const AUTHORITY_CHARACTERS_MAX = 1024;

const NONE: UrlHosts = { urls: [], unreadable: false, truncated: false };

export function urlHosts(argv: readonly string[]): UrlHosts {
  let finder: HostFinder | null = null;
  for (const argument of argv) {
    if (!mayHoldUrl(argument)) continue;
    finder ??= new HostFinder();
    finder.search(argument);
    // Parsers that follow the WHATWG drop these characters wherever they stand in a URL.
    if (/[\t\n\r]/.test(argument)) finder.search(argument.replace(/[\t\n\r]/g, ""));
  }
  return finder === null ? NONE : finder.result();
}

/** A colon is rare in arguments, so this decides most of them without a regular expression. */
function mayHoldUrl(argument: string): boolean {
  return argument.length > 5 && argument.includes(":");
}

class HostFinder {
  readonly #urls: string[][] = [];
  readonly #seen = new Map<string, readonly [hosts: string[], unreadable: boolean]>();
  #unreadable = false;
  #truncated = false;

  result(): UrlHosts {
    return { urls: this.#urls, unreadable: this.#unreadable, truncated: this.#truncated };
  }

  search(text: string): void {
    const schemes = /https?:/gi;
    for (let match = schemes.exec(text); match !== null; match = schemes.exec(text)) {
      if (this.#urls.length >= URLS_MAX) {
        this.#unreadable = true;
        this.#truncated = true;
        return;
      }
      let at = schemes.lastIndex;
      // Parsers take any number of slashes after the scheme, either way round, also none.
      while (text[at] === "/" || text[at] === "\\") at++;
      const slashes = at - schemes.lastIndex;
      this.#readAuthority(text.slice(at, at + AUTHORITY_CHARACTERS_MAX + 1), slashes > 0);
      // The next search starts behind the slashes: `http:http://x` is read both ways.
      schemes.lastIndex = at;
    }
  }

  #readAuthority(rest: string, hasSlashes: boolean): void {
    const readings = authorityReadings(rest);
    // Behind the window there might be the `@` that turns all before it into a user name.
    if (rest.length > AUTHORITY_CHARACTERS_MAX && !rest.includes("/")) this.#unreadable = true;
    if (readings.length === 0) {
      // `http:` at the end of a sentence is no URL; `http://` with nothing behind is a bad one.
      if (hasSlashes) this.#unreadable = true;
      return;
    }
    const key = readings.join("\n");
    const seen = this.#seen.get(key);
    const [hosts, unreadable] = seen ?? readHosts(readings);
    if (seen === undefined) this.#seen.set(key, [hosts, unreadable]);
    if (unreadable) this.#unreadable = true;
    this.#urls.push(hosts);
  }
}

function readHosts(readings: readonly string[]): [string[], boolean] {
  const hosts: string[] = [];
  let unreadable = false;
  for (const reading of readings) {
    for (const spelling of spellings(reading)) {
      const host = canonicalHost(spelling);
      if (host === null) unreadable = true;
      else if (!hosts.includes(host)) hosts.push(host);
    }
  }
  return [hosts, unreadable];
}

/** The older IDNA writes these letters otherwise than the newer one that URL parsers follow. */
function spellings(host: string): string[] {
  if (!/[ßẞς\u200c\u200d]/.test(host)) return [host];
  const older = host
    .replace(/[ßẞ]/g, "ss")
    .replace(/ς/g, "σ")
    .replace(/[\u200c\u200d]/g, "");
  return [host, older];
}

/** Ends of the authority, from what every parser agrees on to what only some take for the end. */
const FIRST_END = /[/\\?#\s"'`<>|;&(){},]/;
const UP_TO_SLASH_OR_SPACE = /[/\\?#\s]/;
/** RFC 3986 has no backslash, and old curl did not stop at `#`: `good#@evil` went to evil. */
const LONGER_ENDS = [/[/\\?#]/, /[/?#]/, /\//] as const;

/** The texts that some parser would take for host and port, given what follows the slashes. */
function authorityReadings(rest: string): string[] {
  const shortest = cut(rest, FIRST_END);
  const untilSpace = cut(rest, UP_TO_SLASH_OR_SPACE);
  const longest = cut(rest, LONGER_ENDS[2]);
  const readings = new Set<string>();
  // A host that fills the whole window may go on behind it, so it cannot be read.
  if (untilSpace.length > AUTHORITY_CHARACTERS_MAX) return ["\0"];
  addAuthority(readings, shortest);
  // A quote or bracket behind a URL closes it; one inside is part of the host to many parsers.
  const trimmed = untilSpace.replace(/["'`<>|;&(){},.!]+$/, "");
  if (trimmed.length > shortest.length) addAuthority(readings, trimmed);
  if (longest.includes("@")) {
    for (const end of LONGER_ENDS) {
      const authority = cut(rest, end);
      if (authority.includes("@")) addAuthority(readings, authority);
    }
  }
  return [...readings];
}

function cut(text: string, end: RegExp): string {
  const at = text.search(end);
  return at < 0 ? text : text.slice(0, at);
}

/** Userinfo ends at the last `@`; some parsers took the first. */
function addAuthority(readings: Set<string>, authority: string): void {
  const last = authority.lastIndexOf("@");
  const host = authority.slice(last + 1);
  if (host !== "" || last >= 0) readings.add(host === "" ? "\0" : host);
  const first = authority.indexOf("@");
  if (first !== last) readings.add(authority.slice(first + 1, last).replace(/@.*$/s, "") || "\0");
}
