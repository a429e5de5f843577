import { blobOf } from "../running-mirror.ts";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { arrivals } from "../fakes/barrier.ts";
import { openDatabase } from "../../src/store/database/database.ts";
import { layOutStore } from "../../src/store/layout.ts";
import type { Release } from "../fakes/release.ts";
import { runCommand } from "../running-command.ts";
import {
  scratch,
  startMirror,
  type Answer,
  type RunningMirror,
} from "../running-mirror.ts";
import { digest, sha256Of } from "../scenes/failing-origin.ts";
import { startOrigin } from "../scenes/world.ts";

/** 100 for a full run. */
const kills = Number(process.env.PROVENDER_KILLS ?? 5);
const planted = 10_000;
const size = 700_000;

const { registry, config: origins } = await startOrigin();

function plantBlobs(directory: string): void {
  void openDatabase(layOutStore(directory)).close();
  for (let n = 0; n < planted; n++) {
    const sha256 = createHash("sha256").update(`${n}`).digest("hex");
    const file = blobOf({ directory }, sha256);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${n}`);
  }
}

/** False bodies and right ones among what clients get until the mirror is gone. */
async function load(
  mirror: RunningMirror,
  releases: readonly Release[],
  onAnswer: () => void,
): Promise<{ readonly right: number; readonly wrong: number }> {
  const asked = releases.map(async (release) => {
    const { filename } = release.archive("linux_amd64");
    const path = `/providers/registry.terraform.io/acme/${release.type}/${filename}`;
    const answer = await mirror.get(path).catch(() => undefined);
    onAnswer();
    return answer === undefined ? "none" : judge(answer, release);
  });
  const all = await Promise.all(asked);
  return {
    right: all.filter((one) => one === "right").length,
    wrong: all.filter((one) => one === "wrong").length,
  };
}

function judge({ status, complete, body }: Answer, release: Release): string {
  if (status !== 200 || !complete) return "cut";
  return digest(body) === sha256Of(release) ? "right" : "wrong";
}

it(
  `after ${kills} kills under load nothing wrong was served, nothing bad is called good, and it was ready in time`,
  { timeout: 120_000 + kills * 20_000 },
  async () => {
    const directory = scratch("killed");
    plantBlobs(directory);
    const config = {
      ...origins,
      freshness: { versions: "0" },
      storage: { directory, minFree: 0 },
    };
    const total = { right: 0, wrong: 0 };
    const ready: number[] = [];
    let releases: Release[] = [];
    for (let turn = 0; turn < kills; turn++) {
      const fresh = await Promise.all(
        Array.from({ length: 4 }, (_, n) =>
          registry.publish({
            type: `kill${turn}x${n}`,
            version: "1.0.0",
            size,
          }),
        ),
      );
      const started = performance.now();
      const mirror = await startMirror({ directory, config });
      expect((await mirror.get("/readyz")).status).toBe(200);
      ready.push(performance.now() - started);
      const asked = [...fresh, ...releases];
      const answers = arrivals();
      const loading = load(mirror, asked, () => answers.arrive());
      // After as many answers as the turn says, and somewhere within the next ones.
      await answers.reach(turn % asked.length);
      await mirror.kill();
      const { right, wrong } = await loading;
      total.right += right;
      total.wrong += wrong;
      releases = fresh;
    }
    const configFile = join(scratch("config"), "provender.yaml");
    writeFileSync(configFile, JSON.stringify(config));
    const args = ["verify", "--json", "--config", configFile];
    const verify = await runCommand(args);
    const found = JSON.parse(verify.stdout) as { findings: unknown[] };
    ready.sort((a, b) => a - b);
    console.log(
      `${kills} kills with ${planted} archives: ${total.right} right bodies, ${total.wrong} wrong; ready in ${Math.round(ready.at(-1) ?? 0)} ms at most`,
    );
    expect(total.wrong).toBe(0);
    expect(total.right).toBeGreaterThan(0);
    expect([verify.status, found.findings]).toEqual([0, []]);
  },
);
