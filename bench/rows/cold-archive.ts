import { startDaemon } from "../daemon.ts";
import { download, fetchDocument } from "../download.ts";
import { figure, interleave, median, ratioOf } from "../figure.ts";
import type { ReleaseArchive } from "../../test/fakes/release.ts";
import { mirrorPath, startOrigin } from "../origin.ts";
import type { Row } from "../row.ts";

export const coldArchive: Row = {
  name: "cold-archive",
  what: "cold archive of 100 MB, 1 client, origin limited to 50 MB/s",
  against: "download from that origin",
  needs: [],
  run: async ({ rounds, quick }, scene) => {
    const origin = scene.add(await startOrigin({ bytesPerSecond: 50e6 }));
    const { registry } = origin;
    const daemon = scene.add(await startDaemon(origin.config));
    const mirrored = `${daemon.url}${mirrorPath("demo")}`;
    // Each round needs its own archive, because an archive is cold only once.
    const archives: ReleaseArchive[] = [];
    for (let round = 0; round < rounds; round++) {
      const version = `1.0.${round}`;
      const size = quick ? 20e6 : 100e6;
      const release = await registry.publish({ type: "demo", version, size });
      archives.push(release.archive("linux_amd64"));
    }
    // Clients ask for the documents before the archive.
    for (const round of archives.keys())
      await fetchDocument(`${mirrored}1.0.${round}.json`, daemon.ca);
    const fetchRound = (base: string, ca: string, round: number) => {
      const { filename = "", bytes = Buffer.alloc(0) } = archives[round] ?? {};
      return download(`${base}${filename}`, ca, bytes.length);
    };
    const times = await interleave(
      rounds,
      (round) => fetchRound(mirrored, daemon.ca, round),
      (round) => {
        const files = `${registry.url}archives/acme/demo/1.0.${round}/`;
        return fetchRound(files, origin.ca, round);
      },
    );
    const later = times.ours.map(
      ({ firstByte }, round) =>
        firstByte - (times.theirs[round]?.firstByte ?? NaN),
    );
    const time = ratioOf(
      times.ours.map(({ total }) => total),
      times.theirs.map(({ total }) => total),
    );
    return [
      figure("time", time, "×", "≤", 1.05),
      figure("first byte later by", median(later), "ms", "≤", 50),
    ];
  },
};
