import { isBeneath } from "../plan/path-facts.ts";

/** A line of /proc/self/mountinfo, as far as it matters here. One character a byte. */
export interface Mount {
  readonly device: string;
  /** The directory of the file system that is mounted. */
  readonly root: string;
  readonly place: string;
}

export function parseMounts(mountinfo: string): readonly Mount[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [, , device, root, place] = line.split(" ");
    if (device === undefined || root === undefined || place === undefined) return [];
    return { device, root: unescaped(root), place: unescaped(place) };
  });
}

/**
 * Where else `path`, or a part of it, can be found because its file system is mounted twice. A
 * place that another mount hides is told as well: too many holes do no harm.
 */
export function otherPlaces(path: string, mounts: readonly Mount[]): readonly string[] {
  const own = mountOf(path, mounts);
  if (own === null) return [];
  const inside = moved(path, own.place, own.root);
  const places = new Set<string>();
  for (const { device, root, place } of mounts) {
    if (device !== own.device) continue;
    if (isBeneath(inside, root)) places.add(moved(inside, root, place));
    // A part of the hole is mounted somewhere else.
    else if (isBeneath(root, inside)) places.add(place);
  }
  places.delete(path);
  return [...places];
}

/** Of two mounts on one place the later one is seen. */
function mountOf(path: string, mounts: readonly Mount[]): Mount | null {
  let best: Mount | null = null;
  for (const mount of mounts) {
    if (!isBeneath(path, mount.place)) continue;
    if (best === null || mount.place.length >= best.place.length) best = mount;
  }
  return best;
}

/** `path` below `from` as it is called below `to`. */
function moved(path: string, from: string, to: string): string {
  const rest = from === "/" ? path : path.slice(from.length);
  const whole = to === "/" ? rest : to + rest;
  if (whole === "") return "/";
  return whole.length > 1 && whole.endsWith("/") ? whole.slice(0, -1) : whole;
}

function unescaped(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}
