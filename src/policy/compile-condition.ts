import { type Breadth, breadthOf } from "./breadth.ts";
import { compileGlob } from "./glob-pattern.ts";
import { HostList } from "./host-name.ts";
import { compileLinearRegex, type LinearRegex } from "./linear-regex.ts";
import { everyHostIn, someHostIn } from "./match-hosts.ts";
import {
  anyOf,
  baseNamePattern,
  exeGlobPattern,
  exePattern,
  matchesProgram,
  type ProgramPattern,
  parsedGlob,
} from "./match-program.ts";
import type { Action, Condition } from "./model.ts";
import { baseName } from "./path-name.ts";
import { type RequestFacts, withoutMark } from "./request-facts.ts";
import { hasRequired, requiredText } from "./required-text.ts";
import { unreachable } from "./result.ts";

export interface CompiledCondition {
  readonly condition: Condition;
  /** The order in which a rule's conditions are tried: what costs least first. */
  readonly cost: number;
  holds(facts: RequestFacts): boolean;
}

/** True or false; "unknown" where the request does not say. */
type Answer = boolean | "unknown";
type Test = (facts: RequestFacts) => Answer;

export function compileCondition(action: Action, condition: Condition): CompiledCondition {
  const { negated } = condition;
  const test = compileTest(action, condition);
  // What is not known does not match; with `_not`, it must not let anything pass either.
  const ifUnknown = negated && action === "deny";
  return {
    condition,
    cost: COSTS[condition.key],
    holds(facts) {
      const answer = test(facts);
      if (answer === "unknown") return ifUnknown;
      return answer !== negated;
    },
  };
}

const COSTS: Record<Condition["key"], number> = {
  uid: 0,
  exe_basename: 1,
  exe: 1,
  parent_exe: 2,
  exe_glob: 3,
  cwd_glob: 3,
  argv_contains: 4,
  argv_host_any: 5,
  argv_host_in: 5,
  argv_regex: 6,
  parent_argv: 7,
};

function compileTest(action: Action, condition: Condition): Test {
  const { key, negated, values } = condition;
  const breadth = breadthOf(action, negated);
  const texts = values.map(String);
  switch (key) {
    case "exe":
      return programTest(exePattern(texts), breadth);
    case "exe_basename":
      return programTest(baseNamePattern(texts), breadth);
    case "exe_glob":
      return programTest(exeGlobPattern(texts), breadth);
    case "argv_regex": {
      const search = regexSearch(texts, breadth);
      return (facts) => facts.argvText.matches(search, breadth);
    }
    case "argv_contains":
      return (facts) => contains(facts.request.argv, texts);
    case "argv_host_in": {
      const list = new HostList(texts);
      return (facts) => everyHostIn(list, facts.hosts, breadth);
    }
    case "argv_host_any": {
      const list = new HostList(texts);
      return (facts) => someHostIn(list, facts.hosts, { breadth, negated });
    }
    case "cwd_glob": {
      const matches = anyOf(texts.map(directoryTest));
      return (facts) => matches(facts.request.cwd);
    }
    case "uid": {
      const uids = new Set(values);
      return (facts) => uids.has(facts.request.uid);
    }
    case "parent_exe":
      return parentExeTest(texts, breadth);
    case "parent_argv":
      return parentArgvTest(texts, breadth);
    default:
      return unreachable(key);
  }
}

function programTest(pattern: ProgramPattern, breadth: Breadth): Test {
  return (facts) => matchesProgram(pattern, breadth, facts);
}

/** `/a/**` is below /a, and a process in /a itself is meant too. */
function directoryTest(glob: string): (path: string) => boolean {
  const matches = compileGlob(parsedGlob(glob));
  if (!glob.endsWith("/**")) return matches;
  return (path) => matches(path) || matches(`${path}/`);
}

function contains(argv: readonly string[], texts: readonly string[]): boolean {
  for (const argument of argv) {
    for (const text of texts) if (argument.includes(text)) return true;
  }
  return false;
}

/** Compiling costs more than a search, so a pattern is compiled when it is first needed. */
function regexSearch(patterns: readonly string[], breadth: Breadth): (text: string) => boolean {
  const compiled: (LinearRegex | undefined)[] = patterns.map(() => undefined);
  const required = patterns.map(requiredText);
  return (text) => {
    for (let i = 0; i < patterns.length; i++) {
      if (!hasRequired(text, required[i] ?? null)) continue;
      let regex = compiled[i];
      if (regex === undefined) {
        const result = compileLinearRegex(patterns[i] as string, { dotAll: breadth === "wide" });
        if (!result.ok) throw new Error(result.error.message);
        regex = result.value;
        compiled[i] = regex;
      }
      if (regex.test(text)) return true;
    }
    return false;
  };
}

/** A value without a slash is matched against the last part of the parent's path. */
function parentExeTest(values: readonly string[], breadth: Breadth): Test {
  const { placed, placeless } = exeGlobPattern(values.filter(hasSlash));
  const byName = anyOf(
    values.filter((glob) => !hasSlash(glob)).map((glob) => compileGlob(parsedGlob(glob))),
  );
  const matches = (exe: string, isPlantable: boolean): boolean =>
    placed(exe) || (!isPlantable && (placeless(exe) || byName(baseName(exe))));
  return ({ request }) => {
    const exe = request.parent?.exe ?? null;
    if (exe === null) return "unknown";
    if (breadth === "narrow") return matches(exe, request.parentIsPlantable);
    return matches(exe, false) || matches(withoutMark(exe), false);
  };
}

function hasSlash(glob: string): boolean {
  return glob.includes("/");
}

function parentArgvTest(patterns: readonly string[], breadth: Breadth): Test {
  const search = regexSearch(patterns, breadth);
  return (facts) => {
    const text = facts.parentArgvText;
    if (text === null) return "unknown";
    if (facts.request.parent?.trusted === true) return text.matches(search, breadth);
    // Memory that the parent may have rewritten can convict it but not vouch for it.
    if (breadth === "narrow") return false;
    return text.matches(search, breadth) || "unknown";
  };
}
