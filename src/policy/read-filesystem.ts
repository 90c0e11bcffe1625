import { isEmbedded } from "./embedded-name.ts";
import { expandVariables, substitute } from "./expand-variables.ts";
import { parseGlob, quoteGlob } from "./glob-pattern.ts";
import type { FilesystemPolicy, PathGrant } from "./model.ts";
import type { ReadContext } from "./read-context.ts";
import { TableReader } from "./table-reader.ts";
import type { TomlString, TomlTable } from "./toml-tree.ts";

/** A `[filesystem]` table as written: what it does not set, a base may. */
export interface FilesystemSettings {
  readonly read: readonly PathGrant[];
  readonly write: readonly PathGrant[];
  readonly allow: readonly PathGrant[];
  readonly exec: readonly PathGrant[];
  readonly deny: readonly PathGrant[];
  readonly denyWrite: readonly PathGrant[];
  readonly requireEnforced: boolean | undefined;
  readonly noBootstrapReads: boolean | undefined;
  readonly createMissing: boolean | undefined;
  readonly noexec: boolean | undefined;
  readonly allowSelfWrite: boolean | undefined;
}

const KEYS = [
  "read_globs",
  "write_globs",
  "allow_globs",
  "exec_globs",
  "deny_globs",
  "deny_write_globs",
  "require_enforced",
  "no_bootstrap_reads",
  "create_missing",
  "noexec",
  "allow_self_write",
];

export function readFilesystem(table: TomlTable, context: ReadContext): FilesystemSettings {
  const reader = new TableReader(table, "[filesystem]", context.source, context.problems);
  reader.checkKeys(KEYS);
  return {
    read: readGrants(reader, "read_globs", context),
    write: readGrants(reader, "write_globs", context),
    allow: readGrants(reader, "allow_globs", context),
    exec: readGrants(reader, "exec_globs", context),
    deny: readGrants(reader, "deny_globs", context),
    denyWrite: readGrants(reader, "deny_write_globs", context),
    requireEnforced: reader.boolean("require_enforced"),
    noBootstrapReads: reader.boolean("no_bootstrap_reads"),
    createMissing: reader.boolean("create_missing"),
    noexec: reader.boolean("noexec"),
    allowSelfWrite: reader.boolean("allow_self_write"),
  };
}

export function readGrants(reader: TableReader, key: string, context: ReadContext): PathGrant[] {
  const grants: PathGrant[] = [];
  for (const node of reader.strings(key) ?? []) {
    if (context.keepsVariables) {
      grants.push({ glob: node.value, span: reader.spanOf(node) });
      continue;
    }
    // Whoever has no home directory has no secrets in it.
    if (isHomeless(node.value, context)) continue;
    const expanded = expandVariables(node, context, quoteGlob);
    if (expanded === null) continue;
    const glob = expandHome(expanded, node, reader, context);
    if (glob === null) continue;
    const mistake = checkGrant(glob);
    if (mistake === null) grants.push({ glob, span: reader.spanOf(node) });
    else reader.error("bad-glob", node, mistake.message, mistake.hint);
  }
  return grants;
}

/** `~` is the home directory only where the string itself has it, not where a variable does. */
function expandHome(
  glob: string,
  node: TomlString,
  reader: TableReader,
  context: ReadContext,
): string | null {
  if (!node.value.startsWith("~")) return glob;
  if (glob !== "~" && !glob.startsWith("~/")) {
    const hint = "write the whole path, or `~/` for your own home directory";
    reader.error("bad-glob", node, "`~` stands only for your own home directory", hint);
    return null;
  }
  const placed = inHome(glob, context.home);
  if (placed === null) {
    const hint = "write the whole path";
    reader.error("undefined-variable", node, "the home directory is not known", hint);
  }
  return placed;
}

function inHome(glob: string, home: string | undefined): string | null {
  if (home === undefined || home === "") return null;
  return quoteGlob(home.replace(/\/+$/, "")) + glob.slice(1);
}

/** An embedded policy names what many users have, not what this one must have. */
function isHomeless(glob: string, { home, source }: ReadContext): boolean {
  return glob.startsWith("~") && (home ?? "") === "" && isEmbedded(source.name);
}

/** The grants of an embedded policy, which was read before anybody knew where it would be used. */
export function placeGrants(
  policy: FilesystemPolicy,
  { env, home }: Pick<ReadContext, "env" | "home">,
): FilesystemPolicy {
  const atHome = inHome("~", home);
  const ownHome = atHome === null || checkGrant(atHome) !== null ? null : atHome;
  const placed = (glob: string): string | null => {
    // What stands in an embedded policy as it is, its tests have checked.
    if (!glob.includes("${")) {
      if (!glob.startsWith("~")) return glob;
      return ownHome === null ? null : ownHome + glob.slice(1);
    }
    const whole = substitute(glob, env, quoteGlob, () => {});
    const path = whole !== null && glob.startsWith("~") ? inHome(whole, home) : whole;
    // A variable can hold anything; what is no path is no grant.
    return path === null || checkGrant(path) !== null ? null : path;
  };
  const place = (grants: readonly PathGrant[]): PathGrant[] =>
    grants.flatMap(({ glob, span }) => {
      const path = placed(glob);
      return path === null ? [] : [{ glob: path, span }];
    });
  return {
    ...policy,
    read: place(policy.read),
    write: place(policy.write),
    allow: place(policy.allow),
    exec: place(policy.exec),
    deny: place(policy.deny),
    denyWrite: place(policy.denyWrite),
  };
}

function checkGrant(glob: string): { message: string; hint: string | null } | null {
  if (glob === "") return { message: "an empty path grants nothing", hint: null };
  if (glob.includes("\0")) return { message: "no path contains a NUL character", hint: null };
  // A `..` could lead out of what the reader of the policy takes the grant for.
  const plain = glob.replace(/\\(.)/gs, "$1");
  if (/(?:^|[/{,])\.\.(?:[/},]|$)/.test(plain)) {
    return { message: `\`..\` in a grant: "${glob}"`, hint: "write the path that is meant" };
  }
  const parsed = parseGlob(glob);
  if (parsed.ok) return null;
  return { message: `bad glob: ${parsed.error}`, hint: "`\\` takes a character literally" };
}
