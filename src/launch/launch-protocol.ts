/** What launcher and supervisor say to each other over their socket pair, in this order. */

/** Launcher: the filter is installed, here is its listener. */
export const TAG_LISTENER = 0x4c;
/** Launcher: a layer could not be applied; a text frame follows. */
export const TAG_FAILED = 0x46;
/** Supervisor: the listener is being served, execute. */
export const TAG_GO = 0x47;
/** Launcher: execve failed; four bytes of errno follow. Success is the end of the stream. */
export const TAG_EXEC_FAILED = 0x58;

const LENGTH_BYTES = 4;

/** A length and the bytes. */
export function frame(bytes: Uint8Array): Buffer {
  const out = Buffer.alloc(LENGTH_BYTES + bytes.length);
  out.writeUInt32LE(bytes.length, 0);
  out.set(bytes, LENGTH_BYTES);
  return out;
}

/** Reads one frame with a function that reads exactly so many bytes, or null at the end. */
export function readFrame(read: (length: number) => Buffer | null): Buffer | null {
  const header = read(LENGTH_BYTES);
  if (header === null) return null;
  const length = header.readUInt32LE(0);
  return length === 0 ? Buffer.alloc(0) : read(length);
}
