import { Errno } from "../../ffi/abi/errno.ts";
import { O_NONBLOCK, O_RDONLY, S_IFMT, S_IFREG } from "../../ffi/abi/file.ts";
import type { FileCalls } from "../../ffi/calls/file.ts";
import { KernelBuffer } from "../../ffi/calls/libc.ts";
import { textToBytes } from "../policy/byte-text.ts";
import type { CompiledPolicy } from "../policy/compile-policy.ts";
import type { ExecRequest, ParentIdentity, Verdict } from "../policy/request.ts";
import { isDynamicLoader, loaderTarget } from "./dynamic-loader.ts";
import { textOf } from "./latin1-text.ts";
import { PlantedNames } from "./planted-names.ts";
import type { PathView, ProgramFile, ProgramFinder } from "./program-file.ts";
import { HEAD_BYTES, parseScriptLine, type ScriptLine } from "./script-line.ts";

/** The kernel follows at most this many interpreters of interpreters. */
const CHAIN_MAX = 5;
const HEADS_MAX = 1024;

/** One program start, as it is judged before and again after it happened. */
export interface ExecFacts {
  readonly view: PathView;
  /** One character a byte, like every path here. */
  readonly invoked: string;
  readonly cwd: string;
  readonly uid: number;
  readonly parent: ParentIdentity | null;
  readonly argv: readonly string[];
  readonly cmdline: Buffer;
  readonly file: ProgramFile;
}

/** The verdict, and what must be found running if it was an allow. */
export interface Judgement {
  readonly verdict: Verdict;
  readonly expectedFileId: string;
  readonly expectedCmdline: Buffer;
  /** Its number of arguments. */
  readonly expectedCount: number;
  /** A dynamic loader that will open a program by itself: see `loader-watch.ts`. */
  readonly isLoading: boolean;
  /** Whether another working directory might have changed the verdict. */
  readonly dependsOnCwd: boolean;
  /** Nothing that can be seen from here speaks against it. */
  readonly willStart: boolean;
  /** The program itself was all there was to judge: what it stands for was looked at nowhere. */
  readonly isPlain: boolean;
}

/** What the first bytes of a file tell. */
interface Head {
  readonly changed: string;
  readonly line: ScriptLine | null;
  readonly isElf: boolean;
}

const ELF_MAGIC = "\x7fELF";
const ANY_EXECUTE = 0o111;

/** What the supervisor knows of the agent's powers; sealing files makes names trustworthy. */
export interface NameTrust {
  /** False where files are not sealed: then nothing is known of what the agent may write. */
  readonly hasTrees: boolean;
  /** True if the agent may write where `path` lies, so that it may have put it there. */
  readonly isPlantable: (path: string) => boolean;
  /** Other names of the file with this id that deny rules are written for. */
  readonly aliases: (fileId: string) => readonly string[];
  /** True for a dynamic loader, whatever name it goes by. */
  readonly isLoader: (fileId: string) => boolean;
}

/** Judges a program and everything that the kernel will start in its place. */
export class ExecJudge {
  readonly #policy: CompiledPolicy;
  readonly #files: FileCalls;
  readonly #finder: ProgramFinder;
  readonly #trust: NameTrust;
  readonly #planted: PlantedNames;
  readonly #headBytes = new KernelBuffer(HEAD_BYTES);
  readonly #heads = new Map<string, Head>();
  #cwdWasRead = false;

  constructor(policy: CompiledPolicy, files: FileCalls, finder: ProgramFinder, trust: NameTrust) {
    this.#policy = policy;
    this.#files = files;
    this.#finder = finder;
    this.#trust = trust;
    this.#planted = new PlantedNames(finder, trust);
  }

  /** `scriptName` is what an interpreter would be given: the path as the caller wrote it. */
  judge(facts: ExecFacts, scriptName: string, expired: () => boolean): Judgement {
    this.#cwdWasRead = false;
    let verdict = this.#decide(facts, facts.file, facts.invoked, facts.argv, expired);
    let file = facts.file;
    let argv = facts.argv;
    let name = scriptName;
    let cmdline = facts.cmdline;
    for (let depth = 0; depth < CHAIN_MAX && verdict.action === "allow"; depth++) {
      const line = this.#head(file)?.line ?? null;
      if (line === null) break;
      const found = this.#finder.find(line.interpreter, facts.view, facts.cwd);
      // The kernel will say what is wrong with it.
      if (typeof found === "number") break;
      const option = line.argument === null ? [] : [line.argument];
      argv = [line.interpreter, ...option, name, ...argv.slice(1)];
      cmdline = Buffer.from(`${argv.join("\0")}\0`, "latin1");
      name = line.interpreter;
      const invoked =
        this.#finder.nameOf(line.interpreter, facts.view, facts.cwd, found) ?? found.realPath;
      const next = this.#decide(facts, found, invoked, argv, expired);
      if (file !== facts.file) this.#finder.release(file);
      file = found;
      verdict = next.action === "deny" ? next : verdict;
    }
    const expectedFileId = file.stat.id;
    const isLoader = this.#isLoader(file);
    const isPlain = file === facts.file && !isLoader;
    const isLoading = isLoader && loaderTarget(argv).kind === "program";
    const willStart = (file.stat.mode & ANY_EXECUTE) !== 0 && this.#head(file)?.isElf === true;
    if (file !== facts.file) this.#finder.release(file);
    return {
      verdict,
      expectedFileId,
      expectedCmdline: cmdline,
      expectedCount: argv.length,
      isLoading,
      dependsOnCwd: this.#cwdWasRead || (this.#policy.usesCwd && !isPlain),
      willStart,
      isPlain,
    };
  }

  #decide(
    facts: ExecFacts,
    file: ProgramFile,
    invoked: string,
    argv: readonly string[],
    expired: () => boolean,
  ): Verdict {
    const own = this.#policy.decide(this.#request(facts, file, invoked, argv), expired);
    if (!this.#isLoader(file)) return own;
    // The loader is a means: only a rule that names it counts, otherwise what it loads does.
    if (own.action === "deny" && own.ruleId !== "default") return own;
    const target = loaderTarget(argv);
    if (target.kind === "none") return own;
    if (target.kind === "unknown") {
      return deny("builtin:loader", "a dynamic loader would search for a program by name");
    }
    const program = this.#finder.find(target.path, facts.view, facts.cwd);
    if (typeof program === "number") {
      return deny("builtin:loader", "a dynamic loader was given a program that cannot be opened");
    }
    const path =
      this.#finder.nameOf(target.path, facts.view, facts.cwd, program) ?? program.realPath;
    const loaded = this.#policy.decide(this.#request(facts, program, path, target.argv), expired);
    this.#finder.release(program);
    return loaded;
  }

  #isLoader(file: ProgramFile): boolean {
    return isDynamicLoader(file.realPath) || this.#trust.isLoader(file.stat.id);
  }

  /** Judges a program that a loader was seen to have mapped. */
  judgeLoaded(facts: ExecFacts, program: ProgramFile, expired: () => boolean): Verdict {
    const target = loaderTarget(facts.argv);
    const argv = target.kind === "program" ? target.argv : facts.argv;
    const { realPath } = program;
    return this.#policy.decide(this.#request(facts, program, realPath, argv), expired);
  }

  #request(
    facts: ExecFacts,
    file: ProgramFile,
    invoked: string,
    argv: readonly string[],
  ): ExecRequest {
    const exe = textOf(invoked);
    const realExe = textOf(file.realPath);
    const cwdWasRead = (): void => {
      this.#cwdWasRead = true;
    };
    return {
      exe,
      realExe,
      realKind: file.kind,
      aliases: this.#trust.aliases(file.stat.id),
      invokedIsPlantable: this.#planted.has(invoked, file.realPath, facts.view),
      realIsPlantable: this.#trust.isPlantable(file.realPath),
      argv: argv.map(textOf),
      get cwd() {
        cwdWasRead();
        return textOf(facts.cwd);
      },
      uid: facts.uid,
      parent: facts.parent,
      parentIsPlantable: this.#isPlantableText(facts.parent?.exe ?? null),
    };
  }

  #isPlantableText(path: string | null): boolean {
    if (path === null || !this.#trust.hasTrees) return false;
    return this.#trust.isPlantable(Buffer.from(textToBytes(path)).toString("latin1"));
  }

  /** Remembered as long as the file is unchanged. */
  #head(file: ProgramFile): Head | null {
    const remembered = this.#heads.get(file.stat.id);
    if (remembered !== undefined && remembered.changed === file.stat.changed) return remembered;
    // A FIFO or a device must not be opened at all, and a lease must not hold us up.
    if ((file.stat.mode & S_IFMT) !== S_IFREG) return null;
    const fd = this.#files.open(`/proc/self/fd/${file.fd}`, O_RDONLY | O_NONBLOCK);
    // Not readable to us: the verification will show what it was.
    if (fd < 0) return null;
    const length = this.#files.pread(fd, this.#headBytes, HEAD_BYTES, 0);
    this.#files.close(fd);
    const text = this.#headBytes.bytes.toString("latin1", 0, Math.max(length, 0));
    const { changed } = file.stat;
    const head = { changed, line: parseScriptLine(text), isElf: text.startsWith(ELF_MAGIC) };
    if (this.#heads.size >= HEADS_MAX) this.#heads.clear();
    this.#heads.set(file.stat.id, head);
    return head;
  }
}

export function deny(ruleId: string, reason: string): Verdict {
  return { action: "deny", ruleId, reason };
}

/** For a caller that could not be attached to. */
export function unverifiable(errno: number): Verdict {
  return errno === -Errno.EPERM
    ? deny("builtin:traced", "the caller is being traced, so its exec cannot be verified")
    : deny("builtin:unverifiable", "the caller is gone or may not be traced");
}

/** The errors of looking a program up that the caller is simply told. */
export function isLookupError(errno: number): boolean {
  return (
    errno === -Errno.ENOENT ||
    errno === -Errno.ENOTDIR ||
    errno === -Errno.ELOOP ||
    errno === -Errno.ENAMETOOLONG ||
    errno === -Errno.EACCES
  );
}
