import { Errno } from "../../ffi/abi/errno.ts";
import { AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW, O_PATH } from "../../ffi/abi/file.ts";
import type { FileCalls } from "../../ffi/calls/file.ts";
import type { Listener } from "../../ffi/calls/notify.ts";
import type { Verdict } from "../policy/request.ts";
import type { CallerReader, CallerStatus } from "./caller.ts";
import type { CallerMemory } from "./caller-memory.ts";
import { splitCmdline } from "./caller-memory.ts";
import {
  deny,
  type ExecFacts,
  type ExecJudge,
  isLookupError,
  type Judgement,
} from "./exec-judge.ts";
import { type ExecLog, execEntry } from "./exec-log.ts";
import type { ExecVerifier } from "./exec-verifier.ts";
import { textOf } from "./latin1-text.ts";
import type { ProcessIdentities } from "./process-identities.ts";
import type { ProgramFile, ProgramFinder } from "./program-file.ts";

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
  readonly path: string;
  readonly dirFd: number;
  readonly flags: number;
  readonly cmdline: Buffer;
  readonly cwd: string;
}

/** Answers execve and execveat. */
export class ExecGate {
  readonly #parts: ExecGateParts;

  constructor(parts: ExecGateParts) {
    this.#parts = parts;
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
      listener.refuse(id, -call);
      return;
    }
    this.#judge(id, call);
  }

  #read(tid: number, isExecveat: boolean): ExecCall | number {
    const { listener, memory, callers } = this.#parts;
    const first = isExecveat ? 1 : 0;
    const pathAddress = listener.argument(first);
    const argvAddress = listener.argument(first + 1);
    memory.turnToExec(tid, pathAddress, argvAddress);
    const path = memory.path(pathAddress);
    const raw = typeof path === "number" ? path : memory.argv(argvAddress);
    if (typeof path === "number") return path;
    if (typeof raw === "number") return raw;
    const status = callers.status(tid);
    const cwd = callers.cwd(tid);
    if (status === null || cwd === null) return -Errno.EACCES;
    return {
      tid,
      status,
      path,
      dirFd: isExecveat ? listener.intArgument(0) : AT_FDCWD,
      flags: isExecveat ? listener.intArgument(4) : 0,
      cmdline: raw.cmdline,
      cwd,
    };
  }

  #judge(id: bigint, call: ExecCall): void {
    const { listener, identities, usesParent } = this.#parts;
    const base = this.#base(call);
    const file = base === null ? -Errno.EBADF : this.#find(call, base);
    const invoked = this.#invokedName(call, base ?? call.cwd);
    if (typeof file === "number") {
      this.#refuseLookup(id, call, invoked ?? call.path, file);
      return;
    }
    const facts: ExecFacts = {
      view: { tid: call.tid, tgid: call.status.tgid },
      invoked: invoked ?? file.realPath,
      cwd: call.cwd,
      uid: call.status.uid,
      parent: usesParent ? identities.of(call.status.ppid) : null,
      argv: splitCmdline(call.cmdline),
      cmdline: call.cmdline,
      file,
    };
    const judgement = this.#parts.judge.judge(facts, scriptName(call), this.#parts.expired);
    if (judgement.verdict.action === "allow") {
      this.#allow(id, call, facts, judgement);
      return;
    }
    this.#write(call, facts, judgement.verdict);
    this.#parts.finder.release(file);
    listener.refuse(id, Errno.EACCES);
  }

  #allow(id: bigint, call: ExecCall, facts: ExecFacts, judgement: Judgement): void {
    const { listener, verifier, finder, verifies } = this.#parts;
    const attached = verifies ? verifier.attach(call.tid) : 0;
    const verdict = attached < 0 ? unverifiable(attached) : judgement.verdict;
    const written = this.#write(call, facts, verdict);
    if (attached < 0 || !written) {
      finder.release(facts.file);
      if (attached === 0 && verifies) verifier.abandon(call.tid);
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
  #invokedName(call: ExecCall, base: string): string | null {
    if (call.path === "") return null;
    const view = { tid: call.tid, tgid: call.status.tgid };
    return this.#parts.finder.nameOf(call.path, view, base);
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
  #write(call: ExecCall, facts: ExecFacts, verdict: Verdict): boolean {
    const { tgid: pid, ppid } = call.status;
    const written = this.#parts.log.write(execEntry("exec", { pid, ppid }, facts, verdict));
    return written || this.#parts.journalFailed();
  }
}

/** What the kernel hands an interpreter as the script's name. */
function scriptName(call: ExecCall): string {
  if (call.path.startsWith("/") || call.dirFd === AT_FDCWD) return call.path;
  return call.path === "" ? `/dev/fd/${call.dirFd}` : `/dev/fd/${call.dirFd}/${call.path}`;
}

function unverifiable(errno: number): Verdict {
  return errno === -Errno.EPERM
    ? deny("builtin:traced", "the caller is being traced, so its exec cannot be verified")
    : deny("builtin:unverifiable", "the caller is gone or may not be traced");
}
