import manifest from "../../package.json" with { type: "json" };

/** From package.json, so that there is one place to change. */
export const VERSION: string = manifest.version;
