import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** The program as it is run for another user. */
export const source = join(import.meta.dirname, "..", "..", "src", "main.ts");

export const user = 65534;

/** Only root can be others, who need to read this source. */
export const canBeOthers =
  process.getuid?.() === 0 &&
  spawnSync(process.execPath, ["-e", `fs.readFileSync("${source}")`], {
    uid: user,
    gid: user,
  }).status === 0;
if (!canBeOthers)
  console.log("SKIPPED: other users cannot run this source here");
