/** Makes docs/session.svg, the picture in the README, from a real run of dist/faraday. */
import { join } from "node:path";
import { renderSession } from "./picture/render-session.ts";
import { PLACE, recordSession } from "./picture/session.ts";
import { REPOSITORY } from "./source-files.ts";

const session = recordSession(join(REPOSITORY, "dist/faraday"), PLACE);
const title = "an agent under Faraday";
await Bun.write(join(REPOSITORY, "docs/session.svg"), renderSession(session, title));
