import { Errno } from "../../ffi/abi/errno.ts";
import { AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW, O_PATH } from "../../ffi/abi/file.ts";
import type { FileCalls } from "../../ffi/calls/file.ts";
import type { Listener } from "../../ffi/calls/notify.ts";
import type { CallerReader, CallerStatus } from "./caller.ts";
import type { CallerMemory } from "./caller-memory.ts";
import { splitCmdline } from "./caller-memory.ts";
import { DeferredExecs } from "./deferred-execs.ts";
import {
  type ExecFacts,
  type ExecJudge,
  isLookupError,
  type Judgement,
  unverifiable,
} from "./exec-judge.ts";
import { type ExecLog, execEntry, type PreparedEntry, unreadableEntry } from "./exec-log.ts";
import { ExecMemory, type RememberedExec } from "./exec-memory.ts";
import type { ExecVerifier } from "./exec-verifier.ts";
import { textOf } from "./latin1-text.ts";
import type { ProcessIdentities } from "./process-identities.ts";
import type { ProgramFile, ProgramFinder } from "./program-file.ts";
import { scriptName } from "./script-line.ts";

export interface ExecGateParts {
  readonly listener: Listener;
  readonly files: FileCalls;
  readonly memory: CallerMemory;
  readonly callers: CallerReader;
  readonly finder: ProgramFinder;
  readonly judge: ExecJudge;
  readonly verifier: ExecVerifier;
  readonly identities: ProcessIdentities;
  readonly log: ExecLog;
  readonly usesParent: boolean;
  /** Null where ptrace cannot be had and the policy lets the run go on without it. */
  readonly verifies: boolean;
  readonly expired: () => boolean;
  /** Called when the journal fails; true if execs may go on without it. */
  readonly journalFailed: () => boolean;
}

/** The call as its caller made it, read out but not judged. */
interface ExecCall {
  readonly tid: number;
  readonly status: CallerStatus;
  readonly uid: number;
  readonly path: string;
  readonly dirFd: number;
  readonly flags: number;
  /** One character a byte. */
  readonly cmdline: string;
  readonly cwd: string;
}

/** Answers execve and execveat. */
export class ExecGate {
  readonly #parts: ExecGateParts;
  readonly #memory: ExecMemory;
  readonly #deferred: DeferredExecs<ExecCall>;

  constructor(parts: ExecGateParts) {
    this.#parts = parts;
    this.#memory = new ExecMemory(parts.files);
    this.#deferred = new DeferredExecs({
      mustWait: ({ tid, status }) => parts.verifier.hasSibling(tid, status.tgid),
      isAlive: (id) => parts.listener.alive(id),
      judge: (id, call) => this.#judge(id, call),
    });
  }

  /** Handles the notification that the listener holds. */
  handle(isExecveat: boolean): void {
    const { listener } = this.#parts;
    const { id, tid } = listener;
    const call = this.#read(tid, isExecveat);
    // The pid may have been recycled while its memory was read: a dead id means that we read a
    // stranger's.
    if (!listener.alive(id)) return;
    if (typeof call === "number") {
      if (call === -Errno.EACCES) this.#recordUnreadable(tid);
      listener.refuse(id, -call);
      return;
    }
    this.#deferred.admit(id, call);
  }

  #recordUnreadable(tid: number): void {
    const { log, callers, journalFailed } = this.#parts;
    if (!log.write(unreadableEntry(tid, callers.status(tid)))) journalFailed();
  }

  /** To be called when an exec has come to its end. */
  resume(): void {
    this.#deferred.resume();
  }

  #read(tid: number, isExecveat: boolean): ExecCall | number {
    const { listener, memory, callers } = this.#parts;
    const first = isExecveat ? 1 : 0;
    const pathAddress = listener.argument(first);
    const argvAddress = listener.argument(first + 1);
    memory.turnToExec(tid, pathAddress, argvAddress);
    const path = memory.path(pathAddress);
    const cmdline = typeof path === "number" ? path : memory.cmdline(argvAddress);
    if (typeof path === "number") return path;
    if (typeof cmdline === "number") return cmdline;
    const status = callers.status(tid);
    const cwd = callers.cwd(tid);
    if (status === null || cwd === null) return -Errno.EACCES;
    return {
      tid,
      status,
      uid: status.uid,
      path,
      dirFd: isExecveat ? listener.intArgument(0) : AT_FDCWD,
      flags: isExecveat ? listener.intArgument(4) : 0,
      cmdline,
      cwd,
    };
  }

  #judge(id: bigint, call: ExecCall): void {
    const known = this.#isRepeatable(call) ? this.#memory.get(call) : undefined;
    if (known !== undefined) {
      this.#allow(id, call, factsAgain(call, known), known.judgement, known.entry);
      return;
    }
    const base = this.#base(call);
    const file = base === null ? -Errno.EBADF : this.#find(call, base);
    if (typeof file === "number") {
      const invoked = this.#invokedName(call, base ?? call.cwd, null);
      this.#refuseLookup(id, call, invoked ?? call.path, file);
      return;
    }
    this.#judgeAnew(id, call, file, base ?? call.cwd);
  }

  /** Whether the path alone, as text, says which name was meant, and nothing else is looked at. */
  #isRepeatable({ path, dirFd, flags }: ExecCall): boolean {
    const { verifies, usesParent } = this.#parts;
    if (!verifies || usesParent || flags !== 0 || path === "" || path.includes("..")) return false;
    return dirFd === AT_FDCWD || path.startsWith("/");
  }

  #judgeAnew(id: bigint, call: ExecCall, file: ProgramFile, base: string): void {
    const { identities, usesParent, log } = this.#parts;
    const facts: ExecFacts = {
      view: { tid: call.tid, tgid: call.status.tgid },
      invoked: this.#invokedName(call, base, file) ?? file.realPath,
      cwd: call.cwd,
      uid: call.status.uid,
      parent: usesParent ? identities.parentOf(call.status) : null,
      argv: splitCmdline(call.cmdline),
      cmdline: Buffer.from(call.cmdline, "latin1"),
      file,
    };
    const judgement = this.#parts.judge.judge(facts, scriptName(call), this.#parts.expired);
    const entry = log.prepare(execEntry("exec", processes(call), facts, judgement.verdict));
    if (judgement.verdict.action === "allow") {
      if (this.#isRepeatable(call) && judgement.isPlain && file.kind === "file") {
        const { invoked, argv, cmdline } = facts;
        this.#memory.remember({ inputs: call, invoked, argv, cmdline, file, judgement, entry });
      }
      this.#allow(id, call, facts, judgement, entry);
      return;
    }
    this.#write(call, entry);
    this.#parts.finder.release(file);
    this.#parts.listener.refuse(id, Errno.EACCES);
  }

  #allow(
    id: bigint,
    call: ExecCall,
    facts: ExecFacts,
    judgement: Judgement,
    entry: PreparedEntry,
  ): void {
    const { listener, verifier, finder, log, verifies } = this.#parts;
    const attached = verifies ? verifier.attach(call.tid) : 0;
    if (attached < 0) {
      // Killed while it was judged: nothing will start, so nothing was denied.
      if (!listener.alive(id)) {
        finder.release(facts.file);
        return;
      }
      const verdict = unverifiable(attached);
      this.#write(call, log.prepare(execEntry("exec", processes(call), facts, verdict)));
      finder.release(facts.file);
      listener.refuse(id, Errno.EACCES);
      return;
    }
    if (!this.#write(call, entry)) {
      finder.release(facts.file);
      if (verifies) verifier.abandon(call.tid);
      listener.refuse(id, Errno.EACCES);
      return;
    }
    const proceeds = listener.proceed(id);
    if (verifies && proceeds) {
      verifier.follow(call.tid, { facts, judgement });
      return;
    }
    // The caller is gone, and its number may be somebody else's by now.
    if (verifies) verifier.abandon(call.tid);
    finder.release(facts.file);
    if (proceeds && this.#parts.usesParent) {
      this.#parts.identities.remember(
        call.status.tgid,
        textOf(facts.file.realPath),
        facts.argv.map(textOf),
      );
    }
  }

  /** The directory that a relative path starts from; null if the descriptor is none. */
  #base(call: ExecCall): string | null {
    if (call.path.startsWith("/") || call.dirFd === AT_FDCWD) return call.cwd;
    return this.#parts.files.readlink(`/proc/${call.tid}/fd/${call.dirFd}`);
  }

  /** Null if the call names no path, or none that leads anywhere. */
  #invokedName(call: ExecCall, base: string, file: ProgramFile | null): string | null {
    if (call.path === "") return null;
    const view = { tid: call.tid, tgid: call.status.tgid };
    return this.#parts.finder.nameOf(call.path, view, base, file);
  }

  #find(call: ExecCall, base: string): ProgramFile | number {
    const { files, finder } = this.#parts;
    const view = { tid: call.tid, tgid: call.status.tgid };
    if (call.path === "") {
      if ((call.flags & AT_EMPTY_PATH) === 0) return -Errno.ENOENT;
      const link = call.dirFd === AT_FDCWD ? "cwd" : `fd/${call.dirFd}`;
      const fd = files.open(`/proc/${call.tid}/${link}`, O_PATH);
      return fd < 0 ? -Errno.EBADF : finder.hold(fd);
    }
    if (call.path.startsWith("/") || call.dirFd === AT_FDCWD) {
      const found = finder.find(call.path, view, base);
      return (call.flags & AT_SYMLINK_NOFOLLOW) === 0 ? found : this.#unlessLink(call, base, found);
    }
    // A directory may have been removed or renamed: its descriptor still leads to it.
    return finder.find(`/proc/${call.tid}/fd/${call.dirFd}/${call.path}`, view, base);
  }

  #unlessLink(call: ExecCall, base: string, found: ProgramFile | number): ProgramFile | number {
    const path = call.path.startsWith("/") ? call.path : `${base}/${call.path}`;
    const link = this.#parts.files.readlink(path);
    if (link === null || typeof found === "number") return found;
    this.#parts.finder.release(found);
    return -Errno.ELOOP;
  }

  /** There is no such program. The caller is told what the kernel would have told it. */
  #refuseLookup(id: bigint, call: ExecCall, invoked: string, errno: number): void {
    const { log, listener } = this.#parts;
    const known = isLookupError(errno) || errno === -Errno.EBADF;
    const written = log.write({
      event: "exec",
      pid: call.status.tgid,
      ppid: call.status.ppid,
      uid: call.status.uid,
      exe: textOf(invoked),
      realExe: null,
      argv: splitCmdline(call.cmdline).map(textOf),
      cwd: textOf(call.cwd),
      action: "error",
      ruleId: null,
      reason: "the program cannot be found",
    });
    if (!written) this.#parts.journalFailed();
    listener.refuse(id, known ? -errno : Errno.EACCES);
  }

  /** True if the record stands, or if the policy lets execs go on without it. */
  #write(call: ExecCall, entry: PreparedEntry): boolean {
    const { pid, ppid } = processes(call);
    return this.#parts.log.writePrepared(entry, pid, ppid) || this.#parts.journalFailed();
  }
}

function processes({ status }: ExecCall): { pid: number; ppid: number } {
  return { pid: status.tgid, ppid: status.ppid };
}

function factsAgain(call: ExecCall, known: RememberedExec): ExecFacts {
  return {
    view: { tid: call.tid, tgid: call.status.tgid },
    invoked: known.invoked,
    cwd: call.cwd,
    uid: call.uid,
    parent: null,
    argv: known.argv,
    cmdline: known.cmdline,
    file: known.file,
  };
}
