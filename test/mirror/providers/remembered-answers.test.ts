import { setImmediate } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { failure } from "../../../src/errors/index.ts";
import {
  freshness,
  makeSigners,
  MirrorScene,
} from "../../scenes/mirror-in-process.ts";

const { K } = await makeSigners();
const day = 86_400_000;
/** Milliseconds until a verification that failed is tried again. */
const pause = freshness / 2;

it("lists a version at the moment in which it is old enough, while its list is fresh", async () => {
  const scene = await MirrorScene.prepare({ minimumAge: day });
  scene.registry.offer("1.0.0", { content: "linux=a", by: K });
  const mirror = scene.start();
  expect(await mirror.index()).toBe("1.0.0");
  scene.clock.pass(freshness);
  const signedAt = scene.clock.now();
  scene.registry.offer("1.1.0", { content: "linux=b", by: K, signedAt });
  expect(await mirror.index()).toBe("1.0.0");
  scene.clock.pass(day - pause);
  for (let times = 0; times < 3; times++)
    expect(await mirror.index()).toBe("1.0.0");
  // The list is fresh for a while yet.
  scene.clock.pass(pause);
  await vi.waitFor(async () =>
    expect(await mirror.index()).toBe("1.1.0 1.0.0"),
  );
});

it("verifies a version again a while after its origin failed, and not at each request", async () => {
  const scene = await MirrorScene.prepare();
  for (const version of ["1.0.0", "1.1.0", "1.2.0"])
    scene.registry.offer(version, { content: "linux=a", by: K });
  const mirror = scene.start();
  const old = "1.2.0 1.1.0 1.0.0";
  expect(await mirror.index()).toBe(old);
  scene.clock.pass(freshness);
  scene.registry.offer("1.3.0", { content: "linux=b", by: K });
  scene.registry.fail(
    "release thing 1.3.0",
    failure("origin-status", "https://registry.example.com/", 502),
  );
  expect(await mirror.index()).toBe(old);
  const asked = scene.registry.count("release thing 1.3.0");
  for (let times = 0; times < 3; times++)
    expect(await mirror.index()).toBe(old);
  expect(scene.registry.count("release thing 1.3.0")).toBe(asked);
  scene.clock.pass(pause);
  const again = scene.registry.hold("release thing 1.3.0");
  const { provider } = (await mirror.request("1.3.0")).address;
  await mirror.providers.listVersions(provider, { maxAge: 0 });
  // It remembers the list while the version is verified.
  for (let times = 0; times < 2; times++)
    expect(await mirror.index()).toBe(old);
  const joined = mirror.version("1.3.0");
  again();
  await joined;
  await setImmediate();
  expect(await mirror.index()).toBe(old);
  scene.registry.heal();
  scene.clock.pass(pause);
  await mirror.index();
  await vi.waitFor(async () =>
    expect(await mirror.index()).toBe(`1.3.0 ${old}`),
  );
});
