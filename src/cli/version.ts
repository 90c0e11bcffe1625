import manifest from "../../package.json" with { type: "json" };

/** Put in by `scripts/build.ts`; not there when the sources are run as they are. */
declare const FARADAY_COMMIT: string | undefined;

/** From package.json, so that there is one place to change. */
export const VERSION: string = manifest.version;

/** The commit that the binary was built from, `-dirty` behind it if files were changed since. */
export const COMMIT: string = typeof FARADAY_COMMIT === "string" ? FARADAY_COMMIT : "unknown";
