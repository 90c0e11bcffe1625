import { bytesToText } from "../policy/byte-text.ts";

const ASCII = /^[\x00-\x7f]*$/;

/** A string of one character a byte, as calls return it, into the policy's lossless text. */
export function textOf(latin1: string): string {
  return ASCII.test(latin1) ? latin1 : bytesToText(Buffer.from(latin1, "latin1"));
}
