import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { alternate, type Bench, FARADAY, findPython, type Timing } from "./measure.ts";

export interface PinnedConnect {
  readonly connects: number;
  readonly timings: readonly Timing[];
}

/**
 * Connects and closes over and over, and prints the seconds that took. A reset at the close keeps
 * the kernel from running out of ports.
 */
const loop = (connects: number, port: number): string => `import os, socket, struct, time
linger = struct.pack("ii", 1, 0)
begin, cpu = time.perf_counter(), os.times()
for _ in range(${connects}):
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    one.connect(("127.0.0.1", ${port}))
    one.close()
end = os.times()
print(time.perf_counter() - begin, end.user - cpu.user, end.system - cpu.system)`;

/** The cost of a connect that the supervisor makes in the caller's place. */
export function benchPinnedConnect(
  { scale, place, progress }: Bench,
  port: number,
): PinnedConnect | null {
  const python = findPython();
  if (python === null) {
    progress("network, pinned connect: there is no python3, so it is left out");
    return null;
  }
  const { pinnedConnects: connects } = scale;
  const policy = join(place, "pin.toml");
  writeFileSync(policy, policyText(port));
  const command = [python, "-S", "-c", loop(connects, port)];
  const run = [FARADAY, "run", "--policy", policy, "--audit", join(place, "pin.jsonl"), "--"];
  const contenders = [
    { name: "bare", command, timesItself: true },
    { name: "pinned", command: [...run, ...command], timesItself: true },
  ];
  const told = (text: string): void => progress(`network, pinned connect: ${text}`);
  return { connects, timings: alternate(contenders, scale.networkRounds, told) };
}

const policyText = (port: number): string => `[meta]
version = 1
default_action = "allow"

[network]
kernel_pin = true
allowed_local_ports = [${port}]
`;
