export type Arch = "x86_64" | "aarch64";

/** AUDIT_ARCH_* as seccomp_data.arch reports them. */
export const AUDIT_ARCH: Readonly<Record<Arch, number>> = {
  x86_64: 0xc000003e,
  aarch64: 0xc00000b7,
};

/** The name of this machine, or null where Faraday has no numbers for it. */
export function archOf(nodeArch: string): Arch | null {
  if (nodeArch === "x64") return "x86_64";
  if (nodeArch === "arm64") return "aarch64";
  return null;
}
