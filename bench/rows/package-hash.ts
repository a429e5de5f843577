import { execFile } from "node:child_process";
import { openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ArchiveThreads } from "../../src/verification/archives/threads.ts";
import { packageLimits } from "../../src/verification/archives/limits.ts";
import { makeArchive } from "../../test/fakes/archive.ts";
import { figure, interleave, ratioOf, timeOf } from "../figure.ts";
import type { Row } from "../row.ts";
import { scratch } from "../scratch.ts";

const run = promisify(execFile);

export const packageHash: Row = {
  name: "package-hash",
  what: "h1 of the zip of a 90 MB executable",
  against: "unzip -p | sha256sum",
  needs: ["unzip", "sha256sum"],
  run: async ({ rounds }, scene) => {
    const { bytes } = await makeArchive({
      ...{ type: "demo", version: "1.0.0", os: "linux", arch: "amd64" },
      ...{ size: 90e6, content: "half" },
    });
    const path = join(scratch("zip"), "archive.zip");
    writeFileSync(path, bytes);
    const archive = { fd: openSync(path, "r"), size: bytes.length };
    const threads = new ArchiveThreads(packageLimits, { threads: 1 });
    scene.add({ stop: () => threads.close() });
    const ours = () => timeOf(() => threads.hash(archive));
    const theirs = () =>
      timeOf(() => run("sh", ["-c", 'unzip -p "$0" | sha256sum', path]));
    await ours();
    const times = await interleave(2 * rounds, ours, theirs);
    const value = ratioOf(times.ours, times.theirs);
    return [figure("time", value, "×", "≤", 1.1)];
  },
};
