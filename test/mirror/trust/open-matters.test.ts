import { afterAll, beforeAll, expect, it } from "vitest";
import { TrustLedger } from "../../../src/mirror/trust/ledger.ts";
import { watchOpenMatters } from "../../../src/mirror/trust/open-matters.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";

let scene: TrustScene;

beforeAll(async () => {
  scene = await TrustScene.start();
});

afterAll(() => scene.stop());

async function listOpen() {
  const layout = layOutStore(scene.mirror.directory);
  const find = watchOpenMatters(new TrustLedger(new DiskRecords(layout)));
  const { matters } = await find();
  return matters.map(({ because, provider, version }) =>
    [because, provider.namespace, version].join(" "),
  );
}

it("are what is held back and re-created, in a gauge too, until an operator decides", async () => {
  const [known, stranger] = [await signer("Known"), await signer("Stranger")];
  for (const namespace of ["held", "created-anew"]) {
    await scene.publish(namespace, "1.0.0", known);
    expect((await scene.ask(namespace).version("1.0.0")).status).toBe(200);
  }
  expect(await listOpen()).toEqual([]);
  await scene.publish("held", "1.1.0", stranger);
  await scene.publish("created-anew", "1.0.0", known, { seed: "other" });
  expect((await scene.ask("held").version("1.1.0")).status).toBe(451);
  expect((await scene.ask("created-anew").version("1.0.0")).status).toBe(200);
  expect(await listOpen()).toEqual([
    "content created-anew 1.0.0",
    "key held 1.1.0",
  ]);
  const { body } = await scene.mirror.get("/metrics");
  for (const [because, count] of [
    ["key", 1],
    ["content", 1],
    ["fall", 0],
  ])
    expect(body.toString()).toContain(
      `provender_releases_held_back{because="${because}"} ${count}\n`,
    );
  await scene.trust("approve", "held/thing@1.1.0");
  expect(await listOpen()).toEqual(["content created-anew 1.0.0"]);
});
