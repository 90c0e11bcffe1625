import type { FileUse } from "./file-rights.ts";

export interface BootstrapGrant {
  readonly path: string;
  readonly uses: readonly FileUse[];
}

const PROGRAM: readonly FileUse[] = ["read", "execute"];
const DATA: readonly FileUse[] = ["read"];
const SOURCE: readonly FileUse[] = ["read", "control"];
const DEVICE: readonly FileUse[] = ["read", "write"];

/** Programs and the libraries they are made of. */
const PROGRAMS = ["/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin"];

/** What nearly every program reads before it does anything: no secrets, and nothing of a user's. */
const SETTINGS = [
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/ld.so.preload",
  "/etc/passwd",
  "/etc/group",
  "/etc/nsswitch.conf",
  "/etc/hosts",
  "/etc/host.conf",
  "/etc/hostname",
  "/etc/resolv.conf",
  "/etc/gai.conf",
  "/etc/services",
  "/etc/protocols",
  "/etc/localtime",
  "/etc/timezone",
  "/etc/locale.conf",
  "/etc/locale.alias",
  "/etc/os-release",
  "/etc/terminfo",
  "/etc/mime.types",
  // Not the whole of /etc/ssl and /etc/pki: private keys are kept there too.
  "/etc/ssl/certs",
  "/etc/ssl/cert.pem",
  "/etc/ssl/openssl.cnf",
  "/etc/ca-certificates",
  "/etc/pki/tls/certs",
  "/etc/pki/tls/openssl.cnf",
  "/etc/pki/ca-trust",
  "/etc/crypto-policies",
  // How many processors, how much memory: the C library and every language runtime ask.
  "/sys/devices/system/cpu",
  "/sys/fs/cgroup",
  "/sys/kernel/mm/transparent_hugepage",
  // The whole of it, because /proc/self is another directory for every process. What it says of
  // processes outside the domain (memory, environment, descriptors) the kernel refuses on its own.
  "/proc",
];

/** Terminals: the agent's own, and new ones, which some agents run their commands in. */
const DEVICES = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts"];
const SOURCES = ["/dev/random", "/dev/urandom"];

/** Added unless `no_bootstrap_reads` is set; what a machine lacks is skipped. */
export const BOOTSTRAP_GRANTS: readonly BootstrapGrant[] = [
  ...PROGRAMS.map((path) => ({ path, uses: PROGRAM })),
  ...SETTINGS.map((path) => ({ path, uses: DATA })),
  ...DEVICES.map((path) => ({ path, uses: DEVICE })),
  ...SOURCES.map((path) => ({ path, uses: SOURCE })),
];
