import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startMirror } from "../../test/running-mirror.ts";
import { prepareWork } from "../client.ts";
import { figure, median, seconds } from "../figure.ts";
import { startOrigin } from "../origin.ts";
import type { Row } from "../row.ts";

const platforms = [
  ...["linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"],
  "windows_amd64",
];
const flags = platforms.flatMap((name) => ["--platform", name]);

export const lock: Row = {
  name: "lock",
  what: "lock of 10 providers × 5 platforms, mirrored",
  against: "terraform providers lock, origin 100 ms away, 20 MB/s a connection",
  needs: ["terraform"],
  run: async ({ quick, rounds }, scene) => {
    const origin = scene.add(
      await startOrigin({ latencyMs: 100, bytesPerSecond: 20e6 }),
    );
    const types = Array.from(
      { length: quick ? 2 : 10 },
      (_, n) => `widget${n}`,
    );
    const size = quick ? 2e6 : 8e6;
    scene.remark(`archives of ${size / 1e6} MB`);
    const work = await prepareWork(origin, types, platforms, size);
    await work.provender("prefetch", "--directory", ".", ...flags);
    const file = join(work.directory, ".terraform.lock.hcl");
    const lockFor = (names: readonly string[]) =>
      work.terraform(
        ...["providers", "lock"],
        ...names.map((name) => `-platform=${name}`),
      );
    const theirs = await lockFor(platforms);
    rmSync(file);
    await lockFor(platforms.slice(0, 1));
    const begun = readFileSync(file);
    const times: number[] = [];
    const { config } = origin;
    const mirror = await startMirror({ config, ...work.storage });
    const from = ["--mirror", mirror.url, "--ca", mirror.caFile];
    for (let round = 0; round < rounds; round++) {
      writeFileSync(file, begun);
      times.push(await work.provender("lock", ...from, ...flags));
    }
    await mirror.stop();
    const ours = median(times);
    scene.remark(`terraform ${seconds(theirs)}, provender ${seconds(ours)}`);
    return [figure("times faster", theirs / ours, "×", "≥", 50)];
  },
};
