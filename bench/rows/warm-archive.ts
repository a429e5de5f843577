import { existsSync, linkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Sha256 } from "../../src/address/hash.ts";
import { blobPath, layOutStore } from "../../src/store/layout.ts";
import { startDaemon, startStaticServer } from "../daemon.ts";
import { download } from "../download.ts";
import { figure, interleave, ratioOf } from "../figure.ts";
import { mirrorPath, startOrigin } from "../origin.ts";
import type { Row } from "../row.ts";

export const warmArchive: Row = {
  name: "warm-archive",
  what: "warm archive of 300 MB, TLS, 1 client",
  against: "nginx, the same file",
  needs: ["nginx"],
  run: async ({ rounds, quick }, scene) => {
    const origin = scene.add(await startOrigin());
    const release = await origin.registry.publish({
      type: "demo",
      version: "1.0.0",
      size: quick ? 60e6 : 300e6,
    });
    const { filename, bytes, sha256 } = release.archive("linux_amd64");
    const daemon = scene.add(await startDaemon(origin.config));
    const nginx = scene.add(await startStaticServer());
    const ours = `${daemon.url}${mirrorPath("demo")}${filename}`;
    await download(ours, daemon.ca, bytes.length);
    const stored = blobPath(layOutStore(daemon.directory), sha256 as Sha256);
    await untilPresent(stored);
    linkSync(stored, join(nginx.root, filename));
    const times = await interleave(
      rounds,
      () => download(ours, daemon.ca, bytes.length),
      () => download(`${nginx.url}${filename}`, nginx.ca, bytes.length),
    );
    const value = ratioOf(
      times.theirs.map(({ total }) => total),
      times.ours.map(({ total }) => total),
    );
    return [figure("speed", value, "×", "≥", 1.1)];
  },
};

/** Clients have an archive a moment before the disk has. */
async function untilPresent(path: string): Promise<void> {
  for (let tries = 0; tries < 600 && !existsSync(path); tries++)
    await delay(50);
}
