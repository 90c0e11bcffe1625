import { readKernelText } from "../../ffi/calls/whole-file.ts";

/**
 * What `~` stands for: `HOME`, or where that is not set (cron, `env -i`) what the system has for
 * the user, as a shell would take it. Secrets must not lose their guard with a variable.
 */
export function homeDirectory(home: string | undefined, uid: number): string | undefined {
  if (home !== undefined && home !== "") return home;
  const users = (readKernelText("/etc/passwd") ?? "").split("\n").map((line) => line.split(":"));
  return users.find((fields) => fields[2] === String(uid))?.[5];
}
