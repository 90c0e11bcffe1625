import type { Breadth } from "./breadth.ts";
import type { HostList } from "./host-name.ts";
import type { UrlHosts } from "./url-hosts.ts";

/**
 * `argv_host_in`: there is a URL, and every host is in the list. Narrow, every reading of every
 * URL must be in it, and a URL that cannot be read is in no list; wide, one reading of each is
 * enough. (In a deny rule one more URL evades this key; `argv_host_any` is the one to deny by.)
 */
export function everyHostIn(list: HostList, found: UrlHosts, breadth: Breadth): boolean {
  if (found.urls.length === 0) return false;
  if (breadth === "narrow" && found.unreadable) return false;
  return found.urls.every((readings) => holds(list, readings, breadth));
}

/**
 * `argv_host_any`: the host of some URL is in the list. Narrow, all readings of that URL must be.
 * A URL that cannot be read is in no list, with one exception: where an allow rule asks for the
 * absence of a host (`negated`), it might be that host, so it counts as present.
 */
export function someHostIn(
  list: HostList,
  found: UrlHosts,
  options: { readonly breadth: Breadth; readonly negated: boolean },
): boolean {
  const { breadth, negated } = options;
  if (breadth === "wide" && negated && found.unreadable) return true;
  // Too many URLs to look at are a doubt, and a wide reading settles doubts by matching.
  if (breadth === "wide" && found.truncated) return true;
  return found.urls.some((readings) => holds(list, readings, breadth));
}

function holds(list: HostList, readings: readonly string[], breadth: Breadth): boolean {
  if (readings.length === 0) return false;
  return breadth === "wide"
    ? readings.some((host) => list.has(host))
    : readings.every((host) => list.has(host));
}
