import type { Diagnostic } from "../policy/diagnostic.ts";
import type { Policy } from "../policy/model.ts";
import { parsePolicy } from "../policy/parse-policy.ts";
import { placeGrants } from "../policy/read-filesystem.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { BUILTIN_PREFIX, DEFAULT_POLICY } from "./builtin-names.ts";
import { type FileProblem, readPolicyFile } from "./read-policy-file.ts";

/** Each base costs an open file and a parse; a policy that needs more is a mistake or an attack. */
const BASES_MAX = 64;

export interface PolicyContext {
  readonly env: (name: string) => string | undefined;
  readonly home: string | undefined;
  /** `run` is silent about what `check` warns of. */
  readonly wantsWarnings?: boolean;
}

export interface LoadedPolicy {
  readonly policy: Policy;
  readonly warnings: readonly Diagnostic[];
  /** As the user named it, or `builtin:NAME`. */
  readonly path: string;
  /** Of the bytes of the named file alone, as `sha256sum` prints it. */
  readonly sha256: string;
  /** What it extends, in the order of reading, so that a log can tell two policies apart. */
  readonly bases: readonly { readonly path: string; readonly sha256: string }[];
}

interface SourceFile {
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
  readonly identity: string;
}

/**
 * Loads a policy with all that it extends. `reference` is a path, `builtin:NAME`, or null for the
 * embedded default. A policy with any mistake is an error as a whole, never a weaker policy.
 */
export function loadPolicy(
  reference: string | null,
  context: PolicyContext,
): Result<LoadedPolicy, readonly Diagnostic[]> {
  const embedded = parsedBuiltin(reference ?? DEFAULT_POLICY, context);
  if (embedded !== null) return ok(embedded);
  const main = readSource(reference ?? DEFAULT_POLICY);
  if (!main.ok) return err([{ severity: "error", span: null, ...main.error }]);

  const { name, text, sha256, identity } = main.value;
  const bases: SourceFile[] = [];
  // The parser finds cycles by name. One file has one name here, however it is spelled.
  const nameOf = new Map([[identity, name]]);
  const readBase = (base: string, from: string): Result<{ name: string; text: string }, string> => {
    if (bases.length >= BASES_MAX) return err(`more than ${BASES_MAX} bases in all`);
    const resolved = resolveBase(base, from);
    if (!resolved.ok) return resolved;
    const source = readSource(resolved.value);
    if (!source.ok) return err(source.error.message);
    const known = nameOf.get(source.value.identity);
    if (known !== undefined) return ok({ name: known, text: source.value.text });
    nameOf.set(source.value.identity, source.value.name);
    bases.push(source.value);
    return ok({ name: source.value.name, text: source.value.text });
  };
  const parsed = parsePolicy({ name, text }, { ...context, readBase, skipTests });
  if (!parsed.ok) return parsed;
  return ok({
    policy: parsed.value.policy,
    warnings: parsed.value.warnings,
    path: name,
    sha256,
    bases: bases.map((base) => ({ path: base.name, sha256: base.sha256 })),
  });
}

/** Both are large, and most runs need neither. */
const parsedBuiltins = (): typeof import("./parsed-builtins.ts").PARSED_BUILTINS =>
  (require("./parsed-builtins.ts") as typeof import("./parsed-builtins.ts")).PARSED_BUILTINS;
const builtinTexts = (): typeof import("./builtin-policies.ts").BUILTIN_POLICIES =>
  (require("./builtin-policies.ts") as typeof import("./builtin-policies.ts")).BUILTIN_POLICIES;

/** The examples of embedded policies were judged when faraday was built. */
const skipTests = (name: string): boolean => name.startsWith(BUILTIN_PREFIX);

/** An embedded policy was also parsed when faraday was built; its grants depend on the user. */
function parsedBuiltin(reference: string, context: PolicyContext): LoadedPolicy | null {
  if (!reference.startsWith(BUILTIN_PREFIX)) return null;
  const name = reference.slice(BUILTIN_PREFIX.length);
  const known = parsedBuiltins();
  const parsed = Object.hasOwn(known, name) ? known[name] : undefined;
  if (parsed === undefined) return null;
  const { sha256, bases, json } = parsed;
  const { policy, warnings } = JSON.parse(json) as Pick<LoadedPolicy, "policy" | "warnings">;
  const filesystem = policy.filesystem === null ? null : placeGrants(policy.filesystem, context);
  return { policy: { ...policy, filesystem }, warnings, path: reference, sha256, bases };
}

function readSource(reference: string): Result<SourceFile, FileProblem> {
  if (reference.startsWith(BUILTIN_PREFIX)) return readBuiltin(reference);
  const file = readPolicyFile(reference);
  if (!file.ok) return file;
  const { bytes, text, identity } = file.value;
  return ok({ name: reference, text, sha256: sha256Of(bytes), identity });
}

function readBuiltin(reference: string): Result<SourceFile, FileProblem> {
  const name = reference.slice(BUILTIN_PREFIX.length);
  const texts = builtinTexts();
  const text = Object.hasOwn(texts, name) ? texts[name] : undefined;
  if (text === undefined) {
    const names = Object.keys(texts).map((known) => BUILTIN_PREFIX + known);
    return err({
      code: "unknown-builtin",
      message: `there is no policy \`${reference}\` inside faraday`,
      hint: `there is ${names.join(", ")}; a file of that name is \`./${reference}\``,
    });
  }
  return ok({ name: reference, text, sha256: sha256Of(text), identity: reference });
}

/**
 * The path of a base, relative to the file that names it and not to the working directory, so
 * that a policy means the same wherever it is used. `..` is left to the kernel, which follows
 * links where folding the text would not.
 */
function resolveBase(base: string, from: string): Result<string, string> {
  if (base.startsWith(BUILTIN_PREFIX) || base.startsWith("/")) return ok(base);
  if (base === "") return err("the path is empty");
  if (from.startsWith(BUILTIN_PREFIX)) {
    return err(`\`${from}\` is not a file, so nothing can be relative to it`);
  }
  const plain = base.replace(/^(?:\.\/+)+/, "");
  const slash = from.lastIndexOf("/");
  const directory = slash < 0 ? "." : from.slice(0, Math.max(slash, 1));
  // A file that happens to be called `builtin:x` must not turn into the policy of that name.
  const bare = directory === "." && !plain.startsWith(BUILTIN_PREFIX);
  return ok(bare ? plain : `${directory}/${plain}`);
}

function sha256Of(content: Uint8Array | string): string {
  return new Bun.CryptoHasher("sha256").update(content).digest("hex");
}
