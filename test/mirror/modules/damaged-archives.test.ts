import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tarGz } from "../../fakes/module-archive.ts";
import { startMirror } from "../../running-mirror.ts";
import {
  getArchive,
  locate,
  makeModuleScene,
} from "../../scenes/module-scene.ts";

const scene = await makeModuleScene();
const mirror = await startMirror({ config: scene.configOf() });

const damages: Readonly<Record<string, (file: string) => void>> = {
  flipped: (file) => {
    const bytes = readFileSync(file);
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    writeFileSync(file, bytes);
  },
  cut: (file) => truncateSync(file, 20),
  emptied: (file) => truncateSync(file, 0),
  folder: (file) => {
    rmSync(file);
    mkdirSync(file);
  },
  pipe: (file) => {
    rmSync(file);
    execFileSync("mkfifo", [file]);
  },
};

function findBlobs(): readonly string[] {
  const blobs = join(mirror.directory, "blobs", "v1", "sha256");
  return readdirSync(blobs, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

describe("the stored archive of a module that was damaged while the mirror runs", () => {
  it.each(Object.keys(damages))(
    "is fetched again for its client, and never answered as absent: %s",
    async (name) => {
      const bytes = await tarGz([["main.tf", `# ${name}`]]);
      const url = scene.origin.serve(`/${name}.tar.gz`, bytes);
      scene.origin.publish(`acme/${name}/aws`, "1.0.0", url);
      const before = new Set(findBlobs());
      expect((await locate(mirror, name)).status).toBe(204);
      const [file = ""] = findBlobs().filter((one) => !before.has(one));
      damages[name]?.(file);
      const { status, body } = await getArchive(mirror, name);
      expect([status, body.equals(bytes)]).toEqual([200, true]);
    },
  );
});
