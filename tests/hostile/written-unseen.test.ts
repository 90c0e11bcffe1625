/** What is written through a mapping may leave no trace that a file has changed. */
import { afterAll, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { Workplace } from "../kernel/faraday-run.ts";
import {
  allowBut,
  compile,
  compileBareMarker,
  exe,
  LOADER,
  PYTHON,
} from "../kernel/test-programs.ts";

const TMPFS = 0x01021994;
const SHM = "/dev/shm";
const isTmpfs = existsSync(SHM) && statfsSync(SHM).type === TMPFS;

const place = new Workplace();
const marker = place.at("marker");
/** Short, because the name of a loader is overwritten by that of a file in it. */
const memory = isTmpfs ? mkdtempSync(`${SHM}/f`) : "";
afterAll(() => {
  place[Symbol.dispose]();
  if (memory !== "") rmSync(memory, { recursive: true });
});

const ALTER = `import mmap, os, sys
path, loader, other = sys.argv[1], sys.argv[2].encode(), sys.argv[3].encode()
before = os.stat(path).st_ctime_ns
with open(path, "r+b") as file:
    memory = mmap.mmap(file.fileno(), 0)
    at = memory.find(loader + b"\\0")
    sum(memory[offset] for offset in range(0, len(memory), 512))
    memory[at : at + len(other) + 1] = other + b"\\0"
    memory.close()
print("unseen" if os.stat(path).st_ctime_ns == before else "seen")`;

test.if(isTmpfs)("an ELF interpreter that was written in unseen is not started", async () => {
  await compile(place, "program", "int main(void) { return 0; }");
  await compileBareMarker(place, "bare", marker);
  const program = `${memory}/p`;
  const denied = `${memory}/d`;
  copyFileSync(place.at("bare"), denied);
  place.write("alter.py", ALTER);
  const alter = `${PYTHON} ${place.at("alter.py")} ${program} ${LOADER} ${denied}`;
  const words = ["sh", "-c", `${program} && ${program} && ${program} && ${alter}; ${program}`];
  const layOut = async (): Promise<void> => {
    rmSync(marker, { force: true });
    copyFileSync(place.at("program"), program);
    // What changed just now is looked at each time on every file system.
    await Bun.sleep(3000);
  };
  await layOut();
  expect((await place.bare(words)).stdout).toBe("unseen\n");
  expect(existsSync(marker)).toBe(true);
  await layOut();
  const kept = await place.faraday(words, { policy: allowBut(exe(denied)) });
  expect(kept.stdout).toBe("unseen\n");
  expect(existsSync(marker)).toBe(false);
  const open = await place.faraday([program], { policy: allowBut(exe("/nothing")) });
  expect([open.exit, existsSync(marker)]).toEqual([0, true]);
});
