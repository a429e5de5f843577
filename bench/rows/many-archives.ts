import { startDaemon, type Daemon } from "../daemon.ts";
import { fetchDocument } from "../download.ts";
import { figure, interleave, median, ratioOf } from "../figure.ts";
import {
  publishManyVersions,
  mirrorPath,
  startOrigin,
  type Origin,
} from "../origin.ts";
import { memoryOf } from "../process-use.ts";
import { measureRate } from "../request-rate.ts";
import type { Row } from "../row.ts";
import { fillStore } from "../stored-archives.ts";

const few = 10;

export const manyArchives: Row = {
  name: "many-archives",
  what: "a store of very many archives",
  against: `a store of ${few}`,
  needs: [],
  run: async ({ archives, rounds, seconds }, scene) => {
    scene.remark(`${archives} stored archives`);
    const origin = scene.add(await startOrigin());
    await publishManyVersions(origin.registry);
    const large = fillStore(archives);
    const small = fillStore(few);
    const starts = await interleave(
      rounds,
      () => startOnce(origin, large),
      () => startOnce(origin, small),
    );
    const full = scene.add(await startDaemon(origin.config, large));
    const empty = scene.add(await startDaemon(origin.config, small));
    const index = (daemon: Daemon) =>
      `${daemon.url}${mirrorPath("demo")}index.json`;
    const measure = (daemon: Daemon) =>
      measureRate({ ...daemon, url: index(daemon) }, seconds);
    for (const daemon of [full, empty]) {
      await fetchDocument(index(daemon), daemon.ca);
      await measure(daemon);
    }
    const rates = await interleave(
      2 * rounds,
      () => measure(full),
      () => measure(empty),
    );
    const more = starts.ours.map(
      ({ memory }, round) => memory - (starts.theirs[round]?.memory ?? NaN),
    );
    return [
      figure(
        "start to ready",
        ratioOf(
          starts.ours.map(({ time }) => time),
          starts.theirs.map(({ time }) => time),
        ),
        "×",
        "≤",
        2,
      ),
      figure("more memory when ready", median(more), "MiB", "≤", 50),
      figure(
        "warm index.json, requests/s",
        ratioOf(
          rates.ours.map(({ perSecond }) => perSecond),
          rates.theirs.map(({ perSecond }) => perSecond),
        ),
        "×",
        "≥",
        0.95,
      ),
    ];
  },
};

async function startOnce(
  { config }: Origin,
  directory: string,
): Promise<{ readonly time: number; readonly memory: number }> {
  const daemon = await startDaemon(config, directory);
  const memory = memoryOf(daemon.pid, "now");
  await daemon.stop();
  return { time: daemon.readyAfter, memory };
}
