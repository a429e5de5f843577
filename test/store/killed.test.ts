import { hash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "../../src/store/database/database.ts";
import { layOutStore } from "../../src/store/layout.ts";
import { digestOf } from "../fakes/archive.ts";
import { arrivals } from "../fakes/barrier.ts";
import { type Release, sha256Of } from "../fakes/release.ts";
import { blobOf, scratch, startMirror } from "../running-mirror.ts";
import { requestsFor, runCommand } from "../scenes/provider-requests.ts";
import { startOrigin } from "../scenes/world.ts";

/** 100 for a full run. */
const kills = Number(process.env.PROVENDER_KILLS ?? 5);
const planted = 10_000;

const { registry, config: origins } = await startOrigin();

function plantBlobs(directory: string): void {
  void openDatabase(layOutStore(directory)).close();
  for (let n = 0; n < planted; n++) {
    const file = blobOf({ directory }, hash("sha256", `${n}`));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${n}`);
  }
}

it(
  `after ${kills} kills under load nothing wrong was served, and nothing bad is called good`,
  { timeout: 120_000 + kills * 20_000 },
  async () => {
    const directory = scratch("killed");
    plantBlobs(directory);
    const config = {
      ...origins,
      freshness: { versions: "0" },
      storage: { directory, minFree: 0 },
    };
    const total = { right: 0, wrong: 0, cut: 0 };
    let last = await startMirror({ directory, config });
    let releases: Release[] = [];
    for (let turn = 0; turn < kills; turn++) {
      const fresh = await Promise.all(
        Array.from({ length: 4 }, (_, n) => {
          const type = `kill${turn}x${n}`;
          return registry.publish({ type, version: "1.0.0", size: 700_000 });
        }),
      );
      expect((await last.get("/readyz")).status).toBe(200);
      const answers = arrivals();
      const asked = [...fresh, ...releases];
      const loading = asked.map(async (release) => {
        const { archive } = requestsFor(last, release.type);
        const answer = await archive("1.0.0").catch(() => undefined);
        answers.arrive();
        if (answer?.status !== 200 || !answer.complete) total.cut += 1;
        else if (digestOf(answer.body) === sha256Of(release)) total.right += 1;
        else total.wrong += 1;
      });
      // After as many answers as the turn says, and somewhere within the next ones.
      await answers.reach(turn % asked.length);
      await last.kill();
      await Promise.all(loading);
      releases = fresh;
      last = await startMirror({ directory, config });
    }
    const verify = await runCommand(last, "verify", "--json");
    const found = JSON.parse(verify.stdout) as { findings: unknown[] };
    console.log(`${kills} kills: ${JSON.stringify(total)}`);
    expect(total.wrong).toBe(0);
    expect(total.right).toBeGreaterThan(0);
    expect([verify.status, found.findings]).toEqual([0, []]);
  },
);
