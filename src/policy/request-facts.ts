import { ArgvText } from "./argv-text.ts";
import { baseName, DELETED_SUFFIX, MEMFD_PREFIX } from "./path-name.ts";
import type { ExecRequest } from "./request.ts";
import { type UrlHosts, urlHosts } from "./url-hosts.ts";

/** A request with what several rules need of it, each worked out once and only if asked for. */
export class RequestFacts {
  readonly request: ExecRequest;
  /** Every name that the program goes by; what denies, looks at all of them. */
  readonly names: readonly string[];
  readonly baseNames: readonly string[];
  #argvText: ArgvText | null = null;
  #parentArgvText: ArgvText | null = null;
  #hosts: UrlHosts | null = null;

  constructor(request: ExecRequest) {
    this.request = request;
    this.names = allNames(request);
    this.baseNames = this.names.map(baseName);
  }

  get argvText(): ArgvText {
    if (this.#argvText === null) {
      const { argv, exe, realExe } = this.request;
      this.#argvText = new ArgvText(argv, exe, realExe ?? exe);
    }
    return this.#argvText;
  }

  /** Null if the parent's arguments are not known. */
  get parentArgvText(): ArgvText | null {
    const { parent } = this.request;
    if (parent === null || parent.argv === null) return null;
    if (this.#parentArgvText === null) {
      const exe = parent.exe ?? parent.argv[0] ?? "";
      this.#parentArgvText = new ArgvText(parent.argv, exe, exe);
    }
    return this.#parentArgvText;
  }

  get hosts(): UrlHosts {
    this.#hosts ??= urlHosts(this.request.argv);
    return this.#hosts;
  }
}

function allNames(request: ExecRequest): readonly string[] {
  const { exe, realExe, aliases, realKind } = request;
  if ((realExe === null || realExe === exe) && aliases.length === 0 && realKind === "file") {
    return [exe];
  }
  const names = [exe, ...aliases];
  if (realExe !== null) {
    names.push(realExe);
    // A deny of /usr/bin/curl means also the curl that was deleted while it ran.
    const plain = withoutMark(realExe);
    if (realKind !== "file" && plain !== realExe) names.push(plain);
  }
  return names;
}

/** The name without the kernel's mark, as deny rules will have written it. */
export function withoutMark(name: string): string {
  if (name.startsWith(MEMFD_PREFIX)) return name.slice(MEMFD_PREFIX.length);
  return name.endsWith(DELETED_SUFFIX) ? name.slice(0, -DELETED_SUFFIX.length) : name;
}
