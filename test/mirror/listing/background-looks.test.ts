import { beforeAll, expect, it } from "vitest";
import { BackgroundLooks } from "../../../src/mirror/listing/version-listing.ts";
import type { Signer } from "../../fakes/signing.ts";
import { prepareUnasked } from "../../scenes/met-provider.ts";
import { freshness, makeSigners } from "../../scenes/mirror-in-process.ts";

let K: Signer;
let E: Signer;
beforeAll(async () => {
  ({ K, E } = await makeSigners());
});

it("a release is looked at once, however often it is wanted, and its list hears that it is good", async () => {
  const { scene, registry } = await prepareUnasked(K);
  const mirror = scene.start();
  const looks = new BackgroundLooks(mirror.standings);
  const request = await mirror.request("2.0.0");
  const { promise, resolve } = Promise.withResolvers<string>();
  for (let n = 0; n < 20; n++) looks.look(request, () => resolve("served"));
  expect(await promise).toBe("served");
  expect(registry.count("release thing 2.0.0")).toBe(1);
});

it("a refused release is not reported, and fails nothing", async () => {
  const { scene, registry, clock } = await prepareUnasked(K);
  registry.offer("3.0.0", { content: "linux=e", by: E });
  clock.pass(freshness);
  const mirror = scene.start();
  const looks = new BackgroundLooks(mirror.standings);
  const served: string[] = [];
  looks.look(await mirror.request("3.0.0"), () => served.push("3.0.0"));
  await expect.poll(() => mirror.candidates()).toEqual(["3.0.0 unknown"]);
  expect(served).toEqual([]);
});

it("at most four releases are looked at at once", async () => {
  const { scene, registry, clock } = await prepareUnasked(K);
  const versions = Array.from({ length: 12 }, (_, n) => `3.0.${n}`);
  for (const version of versions)
    registry.offer(version, { content: "linux=c", by: K });
  clock.pass(freshness);
  const mirror = scene.start();
  expect(await mirror.version("1.0.0")).toBe("linux=a");
  const free = versions.map((one) => registry.hold(`release thing ${one}`));
  const looks = new BackgroundLooks(mirror.standings);
  let served = 0;
  for (const version of versions)
    looks.look(await mirror.request(version), () => served++);
  await expect.poll(() => registry.count("release thing 3.0")).toBe(4);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  expect(registry.count("release thing 3.0")).toBe(4);
  for (const let_ of free) let_();
  await expect.poll(() => served).toBe(12);
});
