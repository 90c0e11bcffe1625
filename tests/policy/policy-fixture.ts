/** What the policy tests share: a policy from its text, and a request with some changes. */
import { type CompiledPolicy, compilePolicy } from "../../src/policy/compile-policy.ts";
import type { Diagnostic } from "../../src/policy/diagnostic.ts";
import { type ParsedPolicy, parsePolicy } from "../../src/policy/parse-policy.ts";
import type { ExecRequest } from "../../src/policy/request.ts";
import { err, ok, type Result } from "../../src/policy/result.ts";

export interface FixtureOptions {
  readonly name?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: string | undefined;
  /** Bases by reference. */
  readonly bases?: Readonly<Record<string, string>>;
}

export function parse(
  text: string,
  options: FixtureOptions = {},
): Result<ParsedPolicy, Diagnostic[]> {
  return parsePolicy(
    { name: options.name ?? "p.toml", text },
    {
      env: (name) => options.env?.[name],
      home: "home" in options ? options.home : "/home/ann",
      readBase: (reference) => {
        const base = options.bases?.[reference];
        return base === undefined ? err("no such file") : ok({ name: reference, text: base });
      },
    },
  );
}

export function parsed(text: string, options: FixtureOptions = {}): ParsedPolicy {
  const result = parse(text, options);
  if (!result.ok) throw new Error(result.error.map((each) => each.message).join("\n"));
  return result.value;
}

export function compiled(text: string, options: FixtureOptions = {}): CompiledPolicy {
  return compilePolicy(parsed(text, options).policy);
}

/** A policy of one rule with these lines; what it does not match gets the other action. */
export function oneRule(
  action: "allow" | "deny",
  lines: string,
  options: FixtureOptions = {},
): CompiledPolicy {
  const other = action === "allow" ? "deny" : "allow";
  const meta = `[meta]\ndefault_action = "${other}"\n`;
  return compiled(`${meta}[[rule]]\nid = "r"\naction = "${action}"\n${lines}\n`, options);
}

export function request(changes: Partial<ExecRequest> = {}): ExecRequest {
  return {
    exe: "/usr/bin/tool",
    realExe: changes.exe ?? "/usr/bin/tool",
    realKind: "file",
    aliases: [],
    invokedIsPlantable: false,
    realIsPlantable: false,
    parentIsPlantable: false,
    argv: ["tool"],
    cwd: "/work",
    uid: 1000,
    parent: null,
    ...changes,
  };
}

/** A diagnostic on one line: `code file:line:column+length`. */
export function place({ code, span }: Diagnostic): string {
  return span === null ? code : `${code} ${span.file}:${span.line}:${span.column}+${span.length}`;
}
