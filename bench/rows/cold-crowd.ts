import { startDaemon } from "../daemon.ts";
import { download, fetchDocument } from "../download.ts";
import { figure, ratioOf } from "../figure.ts";
import type { Release } from "../../test/fakes/release.ts";
import { mirrorPath, startOrigin } from "../origin.ts";
import { memoryOf } from "../process-use.ts";
import type { Row } from "../row.ts";

const clients = 200;

export const coldCrowd: Row = {
  name: "cold-crowd",
  what: "cold archive, 200 clients at once",
  against: "the same, warm",
  needs: [],
  run: async ({ quick }, scene) => {
    const origin = scene.add(await startOrigin());
    const { registry } = origin;
    const daemon = scene.add(await startDaemon(origin.config));
    const mirrored = `${daemon.url}${mirrorPath("demo")}`;
    const cold: number[] = [];
    const warm: number[] = [];
    const rounds = quick ? 1 : 2;
    const size = quick ? 8e6 : 32e6;
    scene.remark(`archives of ${size / 1e6} MB, ${rounds} rounds`);
    const releases: Release[] = [];
    for (let round = 0; round < rounds; round++) {
      const version = `1.0.${round}`;
      releases.push(await registry.publish({ type: "demo", version, size }));
    }
    for (const { version, archives } of releases) {
      const { filename = "", bytes = Buffer.alloc(0) } = archives[0] ?? {};
      await fetchDocument(`${mirrored}${version}.json`, daemon.ca);
      for (const times of [cold, warm]) {
        const url = `${mirrored}${filename}`;
        const { total } = await download(url, daemon.ca, bytes.length, clients);
        times.push(total);
      }
    }
    return [
      figure(
        "origin requests an archive",
        registry.requests.count("archive") / rounds,
        "requests",
        "=",
        1,
      ),
      figure("time", ratioOf(cold, warm), "×", "≤", 1.3),
      figure(
        "most memory of the daemon",
        memoryOf(daemon.pid, "peak"),
        "MiB",
        "≤",
        300,
      ),
    ];
  },
};
