import { bytesToText } from "../policy/byte-text.ts";

const NOT_ASCII = /[\u0080-\u00ff]/;

/** A string of one character a byte, as calls return it, into the policy's lossless text. */
export function textOf(latin1: string): string {
  return NOT_ASCII.test(latin1) ? bytesToText(Buffer.from(latin1, "latin1")) : latin1;
}
