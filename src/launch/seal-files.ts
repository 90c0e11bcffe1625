import { fsRightBit } from "../../ffi/abi/landlock.ts";
import { type FileSeal, fileSeal } from "../plan/file-seal.ts";
import { absolutePath, isBeneath, joinPath } from "../plan/path-facts.ts";
import { bytesToText, textToBytes } from "../policy/byte-text.ts";
import type { Diagnostic } from "../policy/diagnostic.ts";
import { isEmbedded } from "../policy/embedded-name.ts";
import type { FilesystemPolicy } from "../policy/model.ts";
import { type CliGrants, readCliGrants } from "../policy/read-cli-grants.ts";
import { err, ok, type Result } from "../policy/result.ts";
import { createMissing } from "./create-missing.ts";
import { DiskFacts, startDirectory } from "./disk-facts.ts";
import type { LoadedPolicy, PolicyContext } from "./load-policy.ts";
import { type Refusal, refusal } from "./refusal.ts";

export interface SealFilesRequest {
  /** Null if the command line alone says what is granted. */
  readonly loaded: LoadedPolicy | null;
  readonly cli: CliGrants;
  readonly context: PolicyContext;
  readonly audit: string | null;
  readonly landlockAbi: number;
  readonly isInstalled: (tool: string) => boolean;
}

/** What the strictest table would say; the command line's grants are added to it. */
const NO_TABLE: FilesystemPolicy = {
  read: [],
  write: [],
  allow: [],
  exec: [],
  deny: [],
  denyWrite: [],
  requireEnforced: true,
  noBootstrapReads: false,
  createMissing: false,
  noexec: false,
  allowSelfWrite: false,
};

/** Policy and command line to a seal for this machine, or the reason why nothing may start. */
export function sealFiles(request: SealFilesRequest): Result<FileSeal, Refusal> {
  const { loaded, cli, landlockAbi } = request;
  const cwd = startDirectory();
  const extra = readCliGrants(cli, request.context);
  if (!extra.ok) {
    const message = "a grant has errors, so nothing was started";
    return err({ exit: 125, message, hint: null, diagnostics: extra.error });
  }
  const table = loaded?.policy.filesystem ?? NO_TABLE;
  const policy: FilesystemPolicy = {
    ...table,
    read: [...table.read, ...extra.value.read],
    write: [...table.write, ...extra.value.write],
    allow: [...table.allow, ...extra.value.allow],
  };
  const before = new DiskFacts();
  const isThere = (path: string): boolean => before.look(path).kind !== "missing";
  const created = createMissing(policy, cwd, isThere, request.isInstalled);
  if (!created.ok) return created;
  const facts = created.value === 0 ? before : new DiskFacts();
  const seal = fileSeal({ policy, landlockAbi, cwd, facts });
  if (!seal.ok) {
    const message = "the files cannot be sealed as the policy says, so nothing was started";
    return err({ exit: 126, message, hint: null, diagnostics: seal.error });
  }
  const { state } = seal.value;
  if (state.state !== "enforced" && policy.requireEnforced) {
    return err(
      refusal(
        126,
        `files cannot be sealed here: ${state.missing.join("; ")}`,
        "`[filesystem] require_enforced = false` would run the command unsealed",
      ),
    );
  }
  const written = policy.allowSelfWrite ? null : selfWrite(request, seal.value, facts);
  if (written !== null) return err(written);
  return state.state === "enforced" ? seal : ok(unsealed(seal.value));
}

/** The policy lets the run go on; it must not look as if the files were sealed. */
function unsealed(seal: FileSeal): FileSeal {
  const message = `the files are NOT sealed: ${seal.state.missing.join("; ")}`;
  const warning = { severity: "warning", code: "not-sealed", message, span: null, hint: null };
  return { ...seal, warnings: [...seal.warnings, warning as Diagnostic] };
}

/**
 * An agent that may write its own policy, or its log, is held by neither. What embedded policies
 * grant does not count: `faraday run --audit log.jsonl -- claude` has its log in the working
 * directory, and a `LogKeeper` looks after it.
 */
function selfWrite(request: SealFilesRequest, seal: FileSeal, facts: DiskFacts): Refusal | null {
  const { loaded, audit } = request;
  const cwd = startDirectory();
  const policies = (loaded === null ? [] : [loaded, ...loaded.bases])
    .map(({ path }) => path)
    .filter((path) => !isEmbedded(path))
    .map((path) => ({ path, what: "the policy" }));
  const log = audit === null ? [] : [{ path: audit, what: "the audit log" }];
  for (const { path, what } of [...policies, ...log]) {
    const absolute = absolutePath(path, cwd);
    const slash = absolute.lastIndexOf("/");
    const parent = facts.look(absolute.slice(0, slash) || "/").realPath;
    // A link could be replaced, so the place where it stands counts too.
    const names = [facts.look(absolute).realPath, joinPath(parent, absolute.slice(slash + 1))];
    const places = names.flatMap((name) => [name, ...facts.otherPlaces(name)]);
    const tree = seal.askedWritable.find((each) => places.some((place) => isBeneath(place, each)));
    if (tree === undefined) continue;
    return refusal(
      126,
      `${what} ${path} could be written by the command it is for, because ${tree} is writable`,
      "move it elsewhere, or accept that with `[filesystem] allow_self_write = true`",
    );
  }
  return null;
}

/** True if the seal lets the program at this path (one character a byte) be started. */
export function mayExecute(seal: FileSeal, program: string): boolean {
  if (seal.landlock === null) return true;
  const execute = fsRightBit("execute");
  const text = bytesToText(Buffer.from(program, "latin1"));
  const absolute = absolutePath(text, startDirectory());
  const real = Buffer.from(textToBytes(new DiskFacts().look(absolute).realPath)).toString("latin1");
  return seal.landlock.grants.some(
    ({ path, access }) => (access & execute) !== 0 && isBeneath(real, path),
  );
}
