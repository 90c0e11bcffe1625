import type { Diagnostic, Span } from "./diagnostic.ts";
import type { Environment } from "./expand-variables.ts";
import { joinDocuments } from "./join-documents.ts";
import { judgeTests } from "./judge-tests.ts";
import type { Policy } from "./model.ts";
import { ProblemList } from "./problem-list.ts";
import { type PolicyDocument, readDocument } from "./read-document.ts";
import { err, ok, type Result } from "./result.ts";
import { SourceText } from "./source-text.ts";
import { warnShadowedRules } from "./warn-shadowed-rules.ts";
import { warnWeakRules } from "./warn-weak-rules.ts";

export interface PolicySource {
  readonly name: string;
  readonly text: string;
}

export interface ParseContext {
  readonly env: Environment;
  /** What `~` stands for. */
  readonly home: string | undefined;
  /** Finds what `extends` names; `from` is the name of the file that says so. */
  readonly readBase: (reference: string, from: string) => Result<PolicySource, string>;
  /**
   * The files whose examples have been judged already, such as policies that are part of the
   * program and were tested when it was built. Judging 200 examples costs a cold process 40 ms.
   */
  readonly skipTests?: (name: string) => boolean;
  /** Leaves `${NAME}` and `~` in grants as they are: the policy will be used somewhere else. */
  readonly keepsVariables?: boolean;
  /** Whether anybody reads them: to find rules that never match is most of the work. */
  readonly wantsWarnings?: boolean;
}

export interface ParsedPolicy {
  readonly policy: Policy;
  readonly warnings: Diagnostic[];
}

/** No honest chain of bases is this long; a reader that invents names must not loop forever. */
const BASES_DEPTH_MAX = 32;

/**
 * Reads a policy and its bases, judges the examples in them, and reports every mistake at once. A
 * file with a mistake yields no policy: a broken policy must not become a weaker one.
 */
export function parsePolicy(
  source: PolicySource,
  context: ParseContext,
): Result<ParsedPolicy, Diagnostic[]> {
  const problems = new ProblemList();
  const loader = new Loader(context, problems);
  const tree = loader.load(source, []);
  if (tree === null || problems.errors.length > 0) return err(inOrder(problems.errors));
  const policy = joinDocuments(flatten(tree));
  for (const each of loader.trees) {
    const whole = each === tree ? policy : joinDocuments(flatten(each));
    judgeTests(whole, problems);
  }
  if (problems.errors.length > 0) return err(inOrder(problems.errors));
  if (context.wantsWarnings !== false) {
    warnShadowedRules(policy, problems);
    warnWeakRules(policy, problems);
  }
  return ok({ policy, warnings: problems.warnings });
}

/** File by file as they were read, and from the top of each down. */
function inOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const files = [...new Set(diagnostics.map(({ span }) => span?.file))];
  const place = ({ span }: Diagnostic): number[] => [
    files.indexOf(span?.file),
    span?.line ?? 0,
    span?.column ?? 0,
  ];
  return diagnostics.toSorted((a, b) => {
    const [left, right] = [place(a), place(b)];
    return left.map((value, i) => value - (right[i] ?? 0)).find((order) => order !== 0) ?? 0;
  });
}

interface DocumentTree {
  readonly document: PolicyDocument;
  readonly bases: readonly DocumentTree[];
}

class Loader {
  readonly trees: DocumentTree[] = [];
  readonly #context: ParseContext;
  readonly #problems: ProblemList;
  /** Two bases may share a base of their own; it is read, and reported on, once. */
  readonly #byName = new Map<string, DocumentTree | null>();

  constructor(context: ParseContext, problems: ProblemList) {
    this.#context = context;
    this.#problems = problems;
  }

  /** `chain` holds the names of the files that led here, the first one first. */
  load(policy: PolicySource, chain: readonly string[]): DocumentTree | null {
    const known = this.#byName.get(policy.name);
    if (known !== undefined) return known;
    const { env, home, keepsVariables = false } = this.#context;
    const source = new SourceText(policy.name, policy.text);
    const skipTests = this.#context.skipTests?.(policy.name) === true;
    const problems = this.#problems;
    const document = readDocument({ source, problems, env, home, keepsVariables, skipTests });
    if (document === null) {
      this.#byName.set(policy.name, null);
      return null;
    }
    const bases = document.bases.flatMap(
      ({ reference, span }) => this.#loadBase(reference, span, [...chain, policy.name]) ?? [],
    );
    const tree: DocumentTree = { document, bases };
    checkIdsAcross(tree, this.#problems);
    this.#byName.set(policy.name, tree);
    this.trees.push(tree);
    return tree;
  }

  #loadBase(reference: string, span: Span, chain: readonly string[]): DocumentTree | null {
    const from = chain.at(-1) ?? "";
    const base = this.#context.readBase(reference, from);
    if (!base.ok) {
      const message = `cannot read the base "${reference}": ${base.error}`;
      const hint = 'name a file relative to this one, or a policy of Faraday\'s as "builtin:name"';
      this.#problems.error("extends-missing", span, message, hint);
      return null;
    }
    const name = base.value.name;
    if (chain.includes(name) || chain.length >= BASES_DEPTH_MAX) {
      const way = [...chain.slice(chain.indexOf(name)), name].join(" -> ");
      const message = chain.includes(name)
        ? `the policy extends itself: ${way}`
        : `more than ${BASES_DEPTH_MAX} policies extend one another`;
      this.#problems.error("extends-cycle", span, message, "remove one `extends` of the circle");
      return null;
    }
    return this.load(base.value, chain);
  }
}

/** The file itself, then its bases in their order, each once. */
function flatten(tree: DocumentTree): PolicyDocument[] {
  const documents = new Set<PolicyDocument>();
  const visit = ({ document, bases }: DocumentTree): void => {
    if (documents.has(document)) return;
    documents.add(document);
    bases.forEach(visit);
  };
  visit(tree);
  return [...documents];
}

/** Ids must be unique in the whole, since the audit log names rules by them. */
function checkIdsAcross(tree: DocumentTree, problems: ProblemList): void {
  const owners = new Map<string, Span>();
  for (const document of flatten(tree).reverse()) {
    for (const { id, span } of document.rules) {
      const owner = owners.get(id);
      if (owner === undefined) owners.set(id, span);
      else if (owner.file !== span.file && !isReported(problems, span)) {
        const message = `the id "${id}" is used by a base as well`;
        problems.error("duplicate-id", span, message, `it stands in ${owner.file}:${owner.line}`);
      }
    }
  }
}

function isReported(problems: ProblemList, span: Span): boolean {
  return problems.errors.some((each) => each.code === "duplicate-id" && each.span === span);
}
