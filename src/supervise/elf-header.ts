const MAGIC = "\x7fELF\x02\x01";
const HEADER_BYTES = 64;
const PT_INTERP = 3;

/**
 * The interpreter that a 64-bit little-endian ELF file asks for: "" if none, null if its first
 * bytes do not tell.
 */
export function elfInterpreter(head: Buffer): string | null {
  if (head.length < HEADER_BYTES || head.toString("latin1", 0, MAGIC.length) !== MAGIC) return null;
  const table = Number(head.readBigUInt64LE(32));
  const entryBytes = head.readUInt16LE(54);
  const count = head.readUInt16LE(56);
  if (entryBytes < 56 || table + entryBytes * count > head.length) return null;
  for (let index = 0; index < count; index++) {
    const at = table + index * entryBytes;
    if (head.readUInt32LE(at) !== PT_INTERP) continue;
    const start = Number(head.readBigUInt64LE(at + 8));
    const length = Number(head.readBigUInt64LE(at + 32));
    if (start + length > head.length) return null;
    return head.toString("latin1", start, start + length).split("\0", 1)[0] ?? null;
  }
  return "";
}
