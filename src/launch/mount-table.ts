import { isBeneath } from "../plan/path-facts.ts";

/** A line of /proc/self/mountinfo, as far as it matters here. One character a byte. */
interface Mount {
  readonly device: string;
  /** The directory of the file system that is mounted. */
  readonly root: string;
  readonly place: string;
}

/** Where file systems are mounted: most of them once, so most questions have a short answer. */
export class MountTable {
  readonly #byPlace = new Map<string, Mount>();
  readonly #byDevice = new Map<string, Mount[]>();

  /** The text of /proc/self/mountinfo. */
  constructor(mountinfo: string) {
    for (const line of mountinfo.split("\n")) {
      const [, , device, root, place] = line.split(" ");
      if (device === undefined || root === undefined || place === undefined) continue;
      const mount = { device, root: unescaped(root), place: unescaped(place) };
      // Of two mounts on one place the later one is seen.
      this.#byPlace.set(mount.place, mount);
      const same = this.#byDevice.get(device);
      if (same === undefined) this.#byDevice.set(device, [mount]);
      else same.push(mount);
    }
  }

  /**
   * Where else `path`, or a part of it, can be found because its file system is mounted twice. A
   * place that another mount hides is told as well: too many holes do no harm.
   */
  otherPlaces(path: string): readonly string[] {
    const own = this.#mountOf(path);
    const same = own === null ? [] : (this.#byDevice.get(own.device) ?? []);
    if (own === null || same.length < 2) return [];
    const inside = moved(path, own.place, own.root);
    const places = new Set<string>();
    for (const { root, place } of same) {
      if (isBeneath(inside, root)) places.add(moved(inside, root, place));
      // A part of the hole is mounted somewhere else.
      else if (isBeneath(root, inside)) places.add(place);
    }
    places.delete(path);
    return [...places];
  }

  #mountOf(path: string): Mount | null {
    for (let at = path; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
      const mount = this.#byPlace.get(at);
      if (mount !== undefined) return mount;
    }
    return this.#byPlace.get("/") ?? null;
  }
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
