import { beforeAll, describe, expect, it } from "vitest";
import { failure } from "../../../src/errors/index.ts";
import type { Signer } from "../../fakes/signing.ts";
import {
  acme,
  freshness,
  makeSigners,
  MirrorScene,
  type MirrorInProcess,
} from "../../scenes/mirror-in-process.ts";

let K: Signer;
beforeAll(async () => {
  ({ K } = await makeSigners());
});

const gone = failure("not-found", "https://registry.example.com/SHA256SUMS");

/** A registry that lists these versions, and answers 404 for the documents of some. */
async function prepare(
  versions: readonly string[],
  phantoms: readonly string[],
) {
  const scene = await MirrorScene.prepare();
  const { registry, clock } = scene;
  for (const version of versions)
    registry.offer(version, { content: "linux=a", by: K });
  const lose = (...lost: readonly string[]) => {
    for (const version of lost) registry.fail(`sums thing ${version}`, gone);
  };
  lose(...phantoms);
  /** Asks for the list as clients do, while time passes. */
  const expectListed = (mirror: MirrorInProcess, expected: string) =>
    expect
      .poll(
        () => {
          clock.pass(1_000);
          return mirror.index();
        },
        { interval: 300 },
      )
      .toBe(expected);
  return { scene, ...{ registry, clock, lose, expectListed } };
}

const phantomsOf = async (mirror: MirrorInProcess) =>
  [...(await mirror.refused.list(acme))]
    .filter(([, { kind }]) => kind === "phantom")
    .map(([version]) => version);

describe("a listed version without documents", () => {
  it("is in no list from first contact on, also after a restart", async () => {
    const { scene } = await prepare(["1.0.0", "1.1.0", "2.0.0"], ["2.0.0"]);
    const mirror = scene.start();
    expect(await mirror.index()).toBe("1.1.0 1.0.0");
    expect(await mirror.version("2.0.0")).toBe("not-found");
    expect(await scene.start().index()).toBe("1.1.0 1.0.0");
  });

  it("leaves the list once a client asked for it, and no list asks for each version", async () => {
    const versions = Array.from({ length: 40 }, (_, n) => `1.${n}.0`);
    const { scene, registry } = await prepare(versions, ["1.20.0"]);
    const mirror = scene.start();
    expect(await mirror.index()).toContain("1.20.0");
    expect(await mirror.version("1.20.0")).toBe("not-found");
    const listed = await mirror.index();
    expect(listed).not.toContain("1.20.0");
    expect(listed.split(" ")).toHaveLength(39);
    expect(registry.count("release")).toBeLessThan(4);
  });

  it("is listed again once its documents came, by the list alone", async () => {
    const { scene, registry, expectListed } = await prepare(
      ["1.0.0", "2.0.0"],
      ["2.0.0"],
    );
    const mirror = scene.start();
    expect(await mirror.index()).toBe("1.0.0");
    registry.heal();
    await expectListed(mirror, "2.0.0 1.0.0");
    expect(await mirror.version("2.0.0")).toBe("linux=a");
    expect(await phantomsOf(mirror)).toEqual([]);
  });

  it("is listed at once when a client asks for it by name and gets it", async () => {
    const { scene, registry, clock } = await prepare(
      ["1.0.0", "2.0.0"],
      ["2.0.0"],
    );
    const mirror = scene.start();
    expect(await mirror.index()).toBe("1.0.0");
    registry.heal();
    clock.pass(1_000);
    expect(await mirror.version("2.0.0")).toBe("linux=a");
    expect(await mirror.index()).toBe("2.0.0 1.0.0");
  });

  it("is not asked for again before freshness.notFound has passed", async () => {
    const { scene, registry } = await prepare(["1.0.0", "2.0.0"], ["2.0.0"]);
    const mirror = scene.start();
    expect(await mirror.index()).toBe("1.0.0");
    const asked = registry.count("release thing 2.0.0");
    for (let n = 0; n < 5; n++) {
      expect(await mirror.index()).toBe("1.0.0");
      expect(await mirror.version("2.0.0")).toBe("not-found");
    }
    expect(registry.count("release thing 2.0.0")).toBe(asked);
  });

  it("that appears later is not listed before its documents come", async () => {
    const { scene, registry, clock, expectListed } = await prepare(
      ["1.0.0"],
      ["2.0.0"],
    );
    const mirror = scene.start();
    expect(await mirror.index()).toBe("1.0.0");
    registry.offer("2.0.0", { content: "linux=b", by: K });
    clock.pass(freshness);
    expect(await mirror.index()).toBe("1.0.0");
    expect(await phantomsOf(mirror)).toEqual(["2.0.0"]);
    registry.heal();
    await expectListed(mirror, "2.0.0 1.0.0");
  });
});

describe("no phantom is", () => {
  it.each([
    ["5xx", failure("origin-status", "https://registry.example.com/", 503)],
    ["403", failure("origin-status", "https://registry.example.com/", 403)],
    [
      "404 of discovery",
      failure("origin-status", "https://registry.example.com/", 404),
    ],
    [
      "a timeout",
      failure("origin-timeout", "https://registry.example.com/", "x"),
    ],
    [
      "an address that is refused",
      failure("origin-address-refused", "https://x/", "x"),
    ],
  ])("a version whose documents are answered with %s", async (_, error) => {
    const { scene, registry } = await prepare(["1.0.0", "2.0.0"], []);
    registry.fail("release thing 2.0.0", error);
    const mirror = scene.start();
    expect(await mirror.version("1.0.0")).toBe("linux=a");
    expect(await mirror.version("2.0.0")).toMatch(/^origin-/);
    expect(await mirror.index()).toBe("2.0.0 1.0.0");
    expect(await phantomsOf(mirror)).toEqual([]);
  });

  it.each(["release", "sums"])(
    "a version that was verified here, when its %s is gone",
    async (document) => {
      const { scene, registry, clock } = await prepare(["1.0.0", "2.0.0"], []);
      const mirror = scene.start();
      expect(await mirror.version("2.0.0")).toBe("linux=a");
      registry.fail(`${document} thing`, gone);
      registry.offer("2.0.0", { content: "linux=a darwin=b", by: K });
      for (const process of [mirror, scene.start()]) {
        clock.pass(freshness);
        expect(await process.version("2.0.0")).toBe("linux=a");
        expect(await process.index()).toContain("2.0.0");
        expect(await phantomsOf(process)).not.toContain("2.0.0");
      }
    },
  );

  it("a version that a rule denies", async () => {
    const { scene } = await prepare(["1.0.0", "2.0.0"], []);
    const patient = scene.start({ minimumAge: 1e15 });
    expect(await patient.version("2.0.0")).toMatch(/^too-young/);
    expect(await phantomsOf(patient)).toEqual([]);
  });
});

describe("when the newest three vanish in one look", () => {
  const versions = ["1.0.0", "1.1.0", "1.2.0", "1.3.0"];

  it("the list stays, with an alarm, until their documents come", async () => {
    const { scene, registry, clock } = await prepare(
      versions,
      versions.slice(1),
    );
    const mirror = scene.start();
    expect(await mirror.index()).toBe("1.3.0 1.2.0 1.1.0 1.0.0");
    expect(mirror.alarmed()).toContain("versions-vanished undefined");
    registry.heal();
    await expect
      .poll(
        () => {
          clock.pass(1_000);
          return mirror.index().then(() => phantomsOf(mirror));
        },
        { interval: 300 },
      )
      .toEqual([]);
    expect(await mirror.index()).toBe("1.3.0 1.2.0 1.1.0 1.0.0");
  });

  it("a newest one that was verified here stays when older ones vanish", async () => {
    const { scene, lose } = await prepare(versions, []);
    const mirror = scene.start();
    expect(await mirror.version("1.3.0")).toBe("linux=a");
    lose("1.1.0", "1.2.0", "1.3.0");
    await mirror.version("1.2.0");
    expect(await mirror.index()).toBe("1.3.0 1.1.0 1.0.0");
    await mirror.version("1.1.0");
    expect(await mirror.index()).toBe("1.3.0 1.0.0");
  });

  it("only two of them leave it", async () => {
    const { scene } = await prepare(versions, versions.slice(2));
    const mirror = scene.start();
    expect(await mirror.index()).toBe("1.1.0 1.0.0");
    expect(mirror.alarmed()).not.toContain("versions-vanished undefined");
  });

  it("one after the other, days apart, they leave it", async () => {
    const { scene, lose, registry, clock } = await prepare(versions, ["1.3.0"]);
    const mirror = scene.start();
    expect(await mirror.index()).toBe("1.2.0 1.1.0 1.0.0");
    for (const version of ["1.4.0", "1.5.0"]) {
      clock.pass(86_400_000);
      lose(version);
      registry.offer(version, { content: "linux=a", by: K });
      expect(await mirror.index()).toBe("1.2.0 1.1.0 1.0.0");
    }
    expect(mirror.alarmed()).not.toContain("versions-vanished undefined");
  });
});

it("replicas leave out what another one found to be a phantom", async () => {
  const { scene, clock } = await prepare(["1.0.0", "1.1.0", "2.0.0"], []);
  const [one, other] = [
    scene.start({ shared: true }),
    scene.start({ shared: true }),
  ];
  expect(await one.index()).toBe("2.0.0 1.1.0 1.0.0");
  expect(await other.index()).toBe("2.0.0 1.1.0 1.0.0");
  scene.registry.fail("sums thing 1.1.0", gone);
  expect(await one.version("1.1.0")).toBe("not-found");
  expect(await one.index()).toBe("2.0.0 1.0.0");
  clock.pass(10_000);
  expect(await other.index()).toBe("2.0.0 1.0.0");
});
