import manifest from "../../package.json" with { type: "json" };
import { LOCKED } from "./npm-runtime.ts";

interface Component {
  readonly type: "library" | "platform";
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly { readonly expression: string }[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

/**
 * What is inside a binary, as CycloneDX 1.5. It has no time and no serial number, so that the same
 * sources give the same bytes.
 */
export function billOfMaterials(libseccomp: { readonly version: string }): string {
  const bill = {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      component: {
        type: "application",
        name: manifest.name,
        version: manifest.version,
        description: manifest.description,
        licenses: [{ expression: manifest.license }],
      },
    },
    components: [bun(), seccomp(libseccomp.version), ...bundledPackages()],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

function bun(): Component {
  const { version, license } = lockedAt("node_modules/bun");
  // Bun's own licence file lists what it links in turn, JavaScriptCore (LGPL-2.0) among it.
  return {
    type: "platform",
    name: "bun",
    version,
    purl: `pkg:npm/bun@${version}`,
    licenses: [{ expression: license }],
  };
}

function seccomp(version: string): Component {
  return {
    type: "library",
    name: "libseccomp",
    version,
    purl: `pkg:deb/debian/libseccomp2@${encodeURIComponent(version)}`,
    licenses: [{ expression: "LGPL-2.1-only" }],
  };
}

/** What package.json asks for at run time, and what that asks for. */
function bundledPackages(): Component[] {
  return Object.entries(LOCKED)
    .filter(([path, entry]) => path.startsWith("node_modules/") && entry.dev !== true)
    .map(([path, { version, integrity, license }]) => {
      const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      const content = Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
      return {
        type: "library" as const,
        name,
        version,
        purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
        licenses: [{ expression: license }],
        hashes: [{ alg: "SHA-512", content }],
      };
    });
}

function lockedAt(path: string): (typeof LOCKED)[string] {
  const entry = LOCKED[path];
  if (entry === undefined) throw new Error(`package-lock.json has no ${path}`);
  return entry;
}
