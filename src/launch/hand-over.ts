import type { Fd } from "../../ffi/abi/brand.ts";
import { readExactly, receiveDescriptor, writeAll } from "../../ffi/calls/socket.ts";
import type { LaunchPlan } from "../plan/launch-plan.ts";
import {
  frame,
  readFrame,
  TAG_EXEC_FAILED,
  TAG_FAILED,
  TAG_GO,
  TAG_LISTENER,
} from "./launch-protocol.ts";

export type HandOver =
  | { readonly kind: "listener"; readonly fd: Fd }
  | { readonly kind: "failed"; readonly message: string };

/** Gives the launcher its plan; `takeListener` is called when there is nothing else left to do. */
export function sendPlan(socket: Fd, plan: LaunchPlan): void {
  writeAll(socket, frame(Buffer.from(JSON.stringify(plan), "utf8")));
}

export function takeListener(socket: Fd): HandOver {
  const message = receiveDescriptor(socket);
  if (message?.tag === TAG_LISTENER && message.fd !== null) {
    return { kind: "listener", fd: message.fd };
  }
  if (message?.tag === TAG_FAILED) {
    const text = readFrame((length) => readExactly(socket, length));
    return { kind: "failed", message: text?.toString("utf8") ?? "the launcher failed" };
  }
  return { kind: "failed", message: "the launcher ended before it was sealed" };
}

export function sendGo(socket: Fd): void {
  writeAll(socket, Buffer.from([TAG_GO]));
}

/** After the command is gone: the errno with which its very first execve failed, if it did. */
export function execFailure(socket: Fd): number | null {
  if (readExactly(socket, 1)?.[0] !== TAG_EXEC_FAILED) return null;
  return readExactly(socket, 4)?.readInt32LE(0) ?? null;
}
