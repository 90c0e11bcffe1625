/** Runs inside the sandbox: changes modes by a path that another thread rewrites all the time. */
import { dlopen, FFIType, ptr } from "bun:ffi";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const ROUNDS = 20_000;

if (isMainThread) {
  const [inside = "", outside = ""] = process.argv.slice(2);
  const shared = new SharedArrayBuffer(4096);
  const path = new Uint8Array(shared);
  const spellings = [inside, outside].map((each) => Buffer.from(`${each}\0`));
  path.set(spellings[0] ?? []);
  const worker = new Worker(import.meta.path, { workerData: { shared, spellings } });
  await new Promise((resolve) => worker.once("message", resolve));
  const { symbols } = dlopen("libc.so.6", {
    chmod: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  });
  const address = ptr(path);
  let changed = 0;
  for (let round = 0; round < ROUNDS; round++) {
    if (symbols.chmod(address, 0o777) === 0) changed++;
  }
  process.stdout.write(String(changed));
  process.exit(0);
} else {
  const { shared, spellings } = workerData as {
    shared: SharedArrayBuffer;
    spellings: readonly Uint8Array[];
  };
  const path = new Uint8Array(shared);
  const [inside, outside] = spellings;
  const { parentPort } = await import("node:worker_threads");
  parentPort?.postMessage("ready");
  for (;;) {
    path.set(outside ?? []);
    path.set(inside ?? []);
  }
}
