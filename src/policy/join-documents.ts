import { firstOfEach, joinNetwork } from "./join-network.ts";
import type { FilesystemPolicy, Policy } from "./model.ts";
import type { PolicyDocument } from "./read-document.ts";

/**
 * Makes one policy of a file and its bases, nearest first: rules and grants in that order, each
 * setting from the first file that has it. What no file sets has the strict default.
 */
export function joinDocuments(documents: readonly PolicyDocument[]): Policy {
  const first = <T>(get: (document: PolicyDocument) => T | undefined): T | undefined => {
    for (const document of documents) {
      const value = get(document);
      if (value !== undefined) return value;
    }
    return undefined;
  };
  return {
    name: documents[0]?.name ?? "",
    meta: {
      version: 1,
      defaultAction: first(({ defaultAction }) => defaultAction) ?? "deny",
      onPolicyError: first(({ onPolicyError }) => onPolicyError) ?? "deny",
      onSupervisorTimeoutMs: first((each) => each.onSupervisorTimeoutMs) ?? TIMEOUT_MS,
    },
    rules: documents.flatMap(({ rules }) => rules),
    tests: documents[0]?.tests ?? [],
    filesystem: joinFilesystem(documents),
    network: joinNetwork(documents.flatMap(({ network }) => network ?? [])),
    credentials: firstOfEach(
      documents.flatMap(({ credentials }) => credentials),
      ({ key }) => key,
    ),
    audit: { onError: first(({ auditOnError }) => auditOnError) ?? "stop" },
  };
}

const TIMEOUT_MS = 10_000;

function joinFilesystem(documents: readonly PolicyDocument[]): FilesystemPolicy | null {
  const tables = documents.flatMap(({ filesystem }) => filesystem ?? []);
  if (tables.length === 0) return null;
  type Flag =
    | "requireEnforced"
    | "noBootstrapReads"
    | "createMissing"
    | "noexec"
    | "allowSelfWrite";
  const flag = (key: Flag): boolean | undefined =>
    tables.find((table) => table[key] !== undefined)?.[key];
  return {
    read: tables.flatMap(({ read }) => read),
    write: tables.flatMap(({ write }) => write),
    allow: tables.flatMap(({ allow }) => allow),
    exec: tables.flatMap(({ exec }) => exec),
    deny: tables.flatMap(({ deny }) => deny),
    denyWrite: tables.flatMap(({ denyWrite }) => denyWrite),
    requireEnforced: flag("requireEnforced") ?? true,
    noBootstrapReads: flag("noBootstrapReads") ?? false,
    createMissing: flag("createMissing") ?? false,
    noexec: flag("noexec") ?? false,
    allowSelfWrite: flag("allowSelfWrite") ?? false,
  };
}
