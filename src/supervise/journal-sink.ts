import { errnoName } from "../../ffi/abi/errno.ts";
import { LineWriter } from "../../ffi/calls/line-writer.ts";
import type { JournalSink } from "../audit/journal.ts";

/** A journal's lines into an open descriptor. */
export function journalSink(fd: number): JournalSink {
  const writer = new LineWriter(fd);
  return {
    write(line) {
      const { done, errno } = writer.write(line);
      return { done, problem: errno === 0 ? null : errnoName(errno) };
    },
  };
}
