import parsed from "../../build/builtin-policies.json" with { type: "json" };

/** An embedded policy, parsed when faraday was built. */
export interface ParsedBuiltin {
  readonly sha256: string;
  readonly bases: readonly { readonly path: string; readonly sha256: string }[];
  /** JSON of the policy and its warnings: only the one that is used is read. */
  readonly json: string;
}

export const PARSED_BUILTINS: Readonly<Record<string, ParsedBuiltin>> = parsed;
