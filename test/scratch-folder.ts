import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** All that a run of the tests leaves behind lies in one folder, which goes with it. */
export default function makeScratchFolder(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "provender-"));
  // As the system's own: commands and daemons run as other users, too.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
