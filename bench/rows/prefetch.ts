import { prepareWork } from "../client.ts";
import { figure, median, seconds } from "../figure.ts";
import { startOrigin } from "../origin.ts";
import type { Row } from "../row.ts";
import { scratch } from "../scratch.ts";

const platforms = ["linux_amd64", "darwin_arm64", "windows_amd64"];
const flags = platforms.flatMap((name) => ["--platform", name]);

export const prefetch: Row = {
  name: "prefetch",
  what: "prefetch of 20 providers × 3 platforms, origin 100 ms away, 20 MB/s a connection",
  against: "terraform providers mirror",
  needs: ["terraform"],
  run: async ({ quick, rounds }, scene) => {
    const origin = scene.add(
      await startOrigin({ latencyMs: 100, bytesPerSecond: 20e6 }),
    );
    const types = Array.from(
      { length: quick ? 4 : 20 },
      (_, n) => `widget${n}`,
    );
    const size = quick ? 2e6 : 8e6;
    scene.remark(`archives of ${size / 1e6} MB`);
    const work = await prepareWork(origin, types, platforms, size);
    const mirror = () =>
      work.terraform(
        ...["providers", "mirror"],
        ...platforms.map((name) => `-platform=${name}`),
        folder,
      );
    const folder = scratch("mirror");
    const ours = () => work.provender("prefetch", "--directory", ".", ...flags);
    const theirs = { first: await mirror(), again: await mirror() };
    const first = await ours();
    const repeated: number[] = [];
    for (let round = 0; round < rounds; round++) repeated.push(await ours());
    const again = median(repeated);
    scene.remark(
      `terraform ${seconds(theirs.first)}, again ${seconds(theirs.again)}`,
    );
    scene.remark(`provender ${seconds(first)}, again ${seconds(again)}`);
    return [
      figure("times faster", theirs.first / first, "×", "≥", 4),
      figure("times faster, run again", theirs.again / again, "×", "≥", 50),
    ];
  },
};
