import { join } from "node:path";
import { version } from "../src/commands/version.ts";
import { writeBundle } from "./bundle.ts";
import { root } from "./project.ts";

// `npm run build`: the program that npm packs.
await writeBundle(join(root, "dist"), version);
